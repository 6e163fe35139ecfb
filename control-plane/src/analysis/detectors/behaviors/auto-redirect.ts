import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { registrableDomain, sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { oneTag, type Sign } from './one-tag.ts';

type Departure = ObservationOf<'auto_redirect'>;

/** A page that leads on sooner than this after its load is a step of a redirect chain. */
const STAYED_MS = 1_000;

/** Pages that leave their site by themselves when they were there to be read, and creatives that take the page along or try to. */
export const autoRedirect: Detector = { name: 'auto_redirect', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const departures = observationsOf(observations, 'auto_redirect');
  return oneTag(
    'auto_redirect',
    departures.flatMap((departure) => describeDeparture(departure, departures)),
  );
}

function describeDeparture(departure: Departure, all: Departure[]): Sign[] {
  const { landing, url, facts } = departure;
  const { to, refused } = facts;
  if (refused) return [{ landing, text: 'a frame tried to lead the page away' }];
  const leavesSite = /^https?:/.test(to) && registrableDomain(to) !== '' && !sameSite(to, url);
  if (!leavesSite) return [];
  const { after_load_ms } = startOf(departure, all).facts;
  // The page around a creative is ours: who leads it away is the creative, however soon.
  const isStep = landing !== null && after_load_ms <= STAYED_MS;
  return isStep ? [] : [{ landing, text: `left for ${to} by itself, ${after_load_ms} ms after its load` }];
}

/** The departure of the page that was there to be read: an address of its site may lead on at once, as a step on the way. */
function startOf(departure: Departure, all: Departure[]): Departure {
  const { landing, url, facts } = departure;
  if (facts.after_load_ms > STAYED_MS) return departure;
  const earlier = all.slice(0, all.indexOf(departure));
  const before = earlier.findLast(
    (one) => one.landing === landing && !one.facts.refused && isSamePage(one.facts.to, url) && sameSite(one.url, url),
  );
  return before ? startOf(before, earlier) : departure;
}

const isSamePage = (a: string, b: string): boolean => a.split('#')[0] === b.split('#')[0];
