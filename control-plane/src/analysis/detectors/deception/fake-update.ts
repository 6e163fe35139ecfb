import { type Observation, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import { oneTag } from '../behaviors/one-tag.ts';
import type { Detector } from '../detector.ts';
import { discusses } from './discusses.ts';
import { type Link, linksOf } from './links-of.ts';
import { saidOf } from './phrase.ts';
import { type SeenPage, seenPages } from './seen-page.ts';
import { OLD_PARTS } from './update-phrases.ts';
import { isVendors } from './vendors.ts';

const ACTIONS = [
  ...[
    'update',
    'install',
    'download',
    'upgrade',
    'aktualisier',
    'herunterlad',
    'mettre à jour',
    'télécharg',
    'actualiz',
    'descarg',
  ],
  ...[
    'atualiz',
    'baixar',
    'aggiorn',
    'scaric',
    'bijwerk',
    'zaktualiz',
    'pobierz',
    'обнов',
    'скача',
    'установ',
    'güncelle',
    'indir',
    '更新',
    'ダウンロード',
  ],
];
/** What runs when it is opened, or holds what does. */
const PROGRAM = /\.(exe|msi|msix|dmg|pkg|apk|xapk|zip|rar|iso|img|hta|js|jse|vbs|scr|bat|cmd|ps1|crx|xpi|jar|lnk)$/i;
/** A page that has little else to say than that something is to be updated, in characters. */
const LENGTH_OF_PROMPT = 1_500;

/** Where a button leads is in its script. */
const OTHER_SITE = 'http://script.invalid/';

/** Pages that say the browser, or a part of it, is old, and offer an update that is not from those who make it. */
export const fakeUpdate: Detector<'documents'> = {
  name: 'fake_update',
  needs: ['documents'],
  detect: ({ documents, observations }) =>
    oneTag(
      'fake_update',
      seenPages(documents).flatMap((page) => {
        const offer = offerOf(page, observations);
        return offer === null ? [] : { landing: page.landing, text: offer };
      }),
    ),
};

/** What a page offers as an update; null where it offers none, sends to those who make it, or speaks of such pages. */
function offerOf({ landing, url, text, html }: SeenPage, observations: Observation[]): string | null {
  if (isVendors(url)) return null;
  const [claim] = saidOf(text, OLD_PARTS);
  if (!claim || discusses(text)) return null;
  const downloads = observationsOf(observations, 'auto_download').filter((one) => one.landing === landing);
  const file = downloads.find(({ facts }) => PROGRAM.test(facts.file_name) && !isVendors(facts.file_url));
  if (file) return `"${claim}", and ${file.facts.file_url} is downloaded`;
  const links = html.flatMap((one) => linksOf(one, url));
  const actions = links.filter((link) => ACTIONS.some((action) => link.text.includes(action)) && !isVendors(link.url));
  const program = actions.find(isProgram);
  if (program) return `"${claim}", and a link to ${program.url}`;
  // An honest prompt leads to a page of its own site, or to those who make it.
  const action = actions.find((link) => !sameSite(link.url || OTHER_SITE, url));
  const isPrompt = text.length <= LENGTH_OF_PROMPT && !links.some((link) => isVendors(link.url));
  return action && isPrompt ? `"${claim}", and "${action.text.slice(0, 60)}"` : null;
}

const isProgram = ({ url, isDownload }: Link): boolean => isDownload || PROGRAM.test(URL.parse(url)?.pathname ?? '');
