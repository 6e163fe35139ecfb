import type { Observation } from '@adsweep/shared/capture/observations/index.ts';
import { oneTag } from '../behaviors/one-tag.ts';
import type { Detector } from '../detector.ts';
import { discusses } from './discusses.ts';
import { saidOf } from './phrase.ts';
import { ACT, CALL, DETECTIONS, STAY, THREATS } from './scareware-phrases.ts';
import { type SeenPage, seenPages } from './seen-page.ts';
import { seizes } from './seizes.ts';
import { isVendors } from './vendors.ts';

/** A telephone number as it is shown: nine digits or more, in groups. */
const TELEPHONE = /(?:\+|\(|\b)\d[\d\s().\-–]{7,20}\d\b/;
const DIGITS_MIN = 9;
const QUOTE_LENGTH = 120;

/** Pages that claim the visitor's device is infected or locked, and press him to call, to install or to pay. */
export const scareware: Detector<'documents'> = {
  name: 'scareware',
  needs: ['documents'],
  detect: ({ documents, observations }) =>
    oneTag(
      'scareware',
      seenPages(documents).flatMap((page) => {
        const quote = frightens(page, observations);
        return quote ? { landing: page.landing, text: `"${quote.slice(0, QUOTE_LENGTH)}"` } : [];
      }),
    ),
};

/** The claim with which a page frightens; null where it does not, or only speaks of such pages. */
function frightens({ landing, url, title, text }: SeenPage, observations: Observation[]): string | null {
  if (isVendors(url)) return null;
  const threats = saidOf(text, THREATS);
  const [threat] = threats;
  if (!threat) return null;
  const holds = seizes(observations, landing);
  const isUrgent =
    threats.length > 1 || holds || saidOf(text, DETECTIONS).length > 0 || saidOf(title, THREATS).length > 0;
  const presses =
    saidOf(text, STAY).length > 0 ||
    (hasTelephone(text) && saidOf(text, CALL).length > 0) ||
    (isUrgent && saidOf(text, ACT).length > 0);
  return presses && (holds || !discusses(text)) ? threat : null;
}

function hasTelephone(text: string): boolean {
  const [number = ''] = TELEPHONE.exec(text) ?? [];
  return number.replace(/\D/g, '').length >= DIGITS_MIN;
}
