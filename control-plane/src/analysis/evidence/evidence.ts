import type { CapturedBody, CapturedDocument, CapturedVastDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import { subjectLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { Observation } from '@adsweep/shared/capture/observations/index.ts';
import type { CapturedVast } from '@adsweep/shared/capture/vast.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/** What detection may look at: the capture itself, and what is loaded for those who need it, else empty. */
export type Evidence = {
  landings: CapturedLanding[];
  /** That of an ad tag or VAST tag, null on page scans. */
  creative: CapturedCreative | null;
  /** Where the traffic left, as far as it is known. */
  exit: Exit | null;
  observations: Observation[];
  /** What came of a VAST tag, null for other targets. */
  vast: CapturedVast | null;
  /** All requests on a fresh scan, up to 5,000; the stored ones after a day (spec 8). */
  requests: NetworkRequest[];
  /** What the landings and their frames said and showed. */
  documents: CapturedDocument[];
  /** Contents of scripts, fetch and XHR answers and frame documents, for a day. */
  bodies: CapturedBody[];
  /** The documents of a VAST tag. */
  vastDocuments: CapturedVastDocument[];
};

/** Evidence that is loaded for those alone who need it. */
export type Need = 'requests' | 'documents' | 'bodies' | 'vastDocuments';

export const NO_EVIDENCE: Evidence = {
  landings: [],
  creative: null,
  exit: null,
  observations: [],
  vast: null,
  requests: [],
  documents: [],
  bodies: [],
  vastDocuments: [],
};

/**
 * Evidence without the first `count` unique domains of the redirect chain, counted from the entry point (spec 4.2.11):
 * their hops, every other request to them and what it gave, and all of a landing that ended on one. The capture itself stays whole.
 */
export function withoutFirstDomains(evidence: Evidence, count: number): Evidence {
  const { landings, creative, exit, requests, observations, documents, bodies, vast, vastDocuments } = evidence;
  const skipped = firstDomains(landings, count);
  if (skipped.size === 0) return evidence;

  const isSkipped = (url: string) => skipped.has(registrableDomain(url));
  const left = landings.filter(({ final_url }) => !isSkipped(final_url));
  const ords = new Set(left.map(({ ord }) => ord));
  return {
    landings: left.map((landing) => ({
      ...landing,
      redirect_chain: landing.redirect_chain.filter(({ url }) => !isSkipped(url)),
    })),
    creative: creative && {
      ...creative,
      redirect_chain: creative.redirect_chain.filter(({ url }) => !isSkipped(url)),
    },
    exit,
    requests: requests.filter(({ url }) => !isSkipped(url)),
    observations: observations.filter(({ landing, url }) => (landing === null || ords.has(landing)) && !isSkipped(url)),
    documents: documents.filter(({ landing, url }) => ords.has(landing) && !isSkipped(url)),
    bodies: bodies.filter(({ url }) => !isSkipped(url)),
    vast: vast && { ...vast, trackers: vast.trackers.filter(({ url }) => !isSkipped(url)) },
    vastDocuments: vastDocuments.filter(({ rung }) => !isSkipped(vast?.rungs[rung]?.url ?? '')),
  };
}

function firstDomains(landings: CapturedLanding[], count: number): Set<string> {
  const chain = subjectLanding(landings)?.redirect_chain ?? [];
  const domains = chain.map(({ url }) => registrableDomain(url)).filter((domain) => domain !== '');
  return new Set([...new Set(domains)].slice(0, count));
}
