import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';

/** So many copies of itself, behind a listener for Back, are a trap even where the probe led nowhere. */
const COPIES_OF_A_TRAP = 3;

/** Landings that fill the history with copies of themselves and intercept Back to push another offer (spec 2.5). */
export const backButton: Detector = { name: 'back_button', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const caught = observationsOf(observations, 'back_button').flatMap(describeHijack);
  if (caught.length === 0) return [];
  return [{ tag_slug: 'back_button', detail: caught.join('; '), url: '', surface: 'page' }];
}

/**
 * Applications of one page push entries too, and listen for Back: what tells them apart is that Back does not lead to another site, and
 * that they do not stack copies of one address.
 */
function describeHijack({ landing, url, facts }: ObservationOf<'back_button'>): string[] {
  const { copies, probe_url: offer } = facts;
  const pushes = Math.max(facts.pushes, copies);
  const leadsElsewhere = offer !== '' && withoutFragment(offer) !== withoutFragment(url);
  const leadsToOtherSite = leadsElsewhere && !sameSite(offer, url);

  if ((copies > 0 && leadsElsewhere) || (pushes > 0 && leadsToOtherSite))
    return [`landing ${landing}: Back leads to ${offer}, past ${pushes} entries the page added`];
  if (copies >= COPIES_OF_A_TRAP && facts.popstate_listener)
    return [`landing ${landing}: ${copies} copies of the page in the history, and Back is intercepted`];
  return [];
}

const withoutFragment = (url: string): string => url.split('#', 1)[0] ?? '';
