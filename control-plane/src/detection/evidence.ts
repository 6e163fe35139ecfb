import type { Capture, CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { Observation } from '@adsweep/shared/capture/observation.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/** What detection may look at. */
export type Evidence = {
  landings: CapturedLanding[];
  requests: NetworkRequest[];
  observations: Observation[];
};

/**
 * A capture's evidence without the first `count` unique domains of the redirect chain, counted from the entry point (spec 4.2.11):
 * their hops, every other request to them, and all of a landing that ended on one. The capture itself stays whole.
 */
export function evidenceOf(capture: Pick<Capture, keyof Evidence>, count: number): Evidence {
  const { landings, requests, observations } = capture;
  const skipped = firstDomains(landings, count);
  if (skipped.size === 0) return { landings, requests, observations };

  const isSkipped = (url: string) => skipped.has(registrableDomain(url));
  const left = landings.filter(({ final_url }) => !isSkipped(final_url));
  const ords = new Set(left.map(({ ord }) => ord));
  return {
    landings: left.map((landing) => ({
      ...landing,
      redirect_chain: landing.redirect_chain.filter(({ url }) => !isSkipped(url)),
    })),
    requests: requests.filter(({ url }) => !isSkipped(url)),
    observations: observations.filter(({ landing, url }) => ords.has(landing) && !isSkipped(url)),
  };
}

function firstDomains(landings: CapturedLanding[], count: number): Set<string> {
  const chain = landings.find(({ ord }) => ord === 0)?.redirect_chain ?? [];
  const domains = chain.map(({ url }) => registrableDomain(url)).filter((domain) => domain !== '');
  return new Set([...new Set(domains)].slice(0, count));
}
