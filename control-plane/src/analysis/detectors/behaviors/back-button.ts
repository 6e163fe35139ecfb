import type { Observation } from '@adsweep/shared/capture/observation.ts';
import { sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import type { Detector } from '../detector.ts';
import type { Evidence } from '../evidence.ts';
import type { Finding } from '../finding.ts';
import { numberFact, textFact } from '../read-fact.ts';

/** So many copies of itself, behind a listener for Back, are a trap even where the probe led nowhere. */
const COPIES_OF_A_TRAP = 3;

/** Landings that fill the history with copies of themselves and intercept Back to push another offer (spec 2.5). */
export const backButton: Detector = { name: 'back_button', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const caught = observations.filter(({ kind }) => kind === 'back_button').flatMap(describeHijack);
  if (caught.length === 0) return [];
  return [{ tag_slug: 'back_button', detail: caught.join('; '), url: '', surface: 'page' }];
}

/**
 * Applications of one page push entries too, and listen for Back: what tells them apart is that Back does not lead to another site, and
 * that they do not stack copies of one address.
 */
function describeHijack(observation: Observation): string[] {
  const copies = numberFact(observation, 'copies');
  const pushes = Math.max(numberFact(observation, 'pushes'), copies);
  const offer = textFact(observation, 'probe_url');
  const leadsElsewhere = offer !== '' && withoutFragment(offer) !== withoutFragment(observation.url);
  const leadsToOtherSite = leadsElsewhere && !sameSite(offer, observation.url);
  const listens = observation.facts.popstate_listener === true;

  if ((copies > 0 && leadsElsewhere) || (pushes > 0 && leadsToOtherSite))
    return [`landing ${observation.landing}: Back leads to ${offer}, past ${pushes} entries the page added`];
  if (copies >= COPIES_OF_A_TRAP && listens)
    return [`landing ${observation.landing}: ${copies} copies of the page in the history, and Back is intercepted`];
  return [];
}

const withoutFragment = (url: string): string => url.split('#', 1)[0] ?? '';
