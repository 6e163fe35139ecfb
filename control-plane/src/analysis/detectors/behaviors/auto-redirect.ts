import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { registrableDomain, sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import type { Detector } from '../detector.ts';
import type { Evidence } from '../evidence.ts';
import type { Finding } from '../finding.ts';
import { oneTag, type Sign } from './one-tag.ts';

/** A page that leads on sooner than this after its load is a step of a redirect chain. */
const STAYED_MS = 1_000;

/** Pages that leave their site by themselves when they were there to be read, and creatives that take the page along or try to. */
export const autoRedirect: Detector = { name: 'auto_redirect', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  return oneTag('auto_redirect', observationsOf(observations, 'auto_redirect').flatMap(describeDeparture));
}

function describeDeparture({ landing, url, facts }: ObservationOf<'auto_redirect'>): Sign[] {
  const { to, after_load_ms, refused } = facts;
  if (refused) return [{ landing, text: 'a frame tried to lead the page away' }];
  const leavesSite = /^https?:/.test(to) && registrableDomain(to) !== '' && !sameSite(to, url);
  // The page around a creative is ours: who leads it away is the creative, however soon.
  const isStep = landing !== null && after_load_ms <= STAYED_MS;
  return leavesSite && !isStep
    ? [{ landing, text: `left for ${to} by itself, ${after_load_ms} ms after its load` }]
    : [];
}
