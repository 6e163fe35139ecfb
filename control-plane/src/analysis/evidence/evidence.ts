import type { CapturedBody, CapturedDocument, CapturedVastDocument } from '@adsweep/shared/capture/artifacts.ts';
import { type CapturedLanding, subjectLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { Note } from '@adsweep/shared/capture/notes.ts';
import type { Observation } from '@adsweep/shared/capture/observations/index.ts';
import type { CapturedVast } from '@adsweep/shared/capture/vast.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/**
 * What detectors and rules read: the capture, and the parts that are stored apart from it (empty unless they are
 * needed).
 */
export type Evidence = {
  landings: CapturedLanding[];
  /** The creative of an ad tag, a VAST tag or an ad on a page; null for pages, and for pops, which are landings. */
  creative: CapturedCreative | null;
  /** The exit of the traffic, as far as it is known. */
  exit: Exit | null;
  observations: Observation[];
  /** What the capture lacks. */
  notes: Note[];
  /** How a VAST tag was played; null for other targets. */
  vast: CapturedVast | null;
  /** All requests for a day, up to 5,000; then the stored ones (spec 8). */
  requests: NetworkRequest[];
  /** Titles, visible texts and HTML of the landings and their frames. */
  documents: CapturedDocument[];
  /** Bodies of scripts, of fetch and XHR responses, and of frame documents, for a day. */
  bodies: CapturedBody[];
  /** The documents of a VAST tag. */
  vastDocuments: CapturedVastDocument[];
  /** The HTML of the creative; '' if there is none. */
  creativeHtml: string;
};

/** The parts that are stored apart from the capture. */
export const NEEDS = ['requests', 'documents', 'bodies', 'vastDocuments', 'creativeHtml'] as const;
export type Need = (typeof NEEDS)[number];

export const NO_EVIDENCE: Evidence = {
  landings: [],
  creative: null,
  exit: null,
  observations: [],
  notes: [],
  vast: null,
  requests: [],
  documents: [],
  bodies: [],
  vastDocuments: [],
  creativeHtml: '',
};

/**
 * Evidence without the first `count` unique domains of the redirect chain, counted from the entry point (spec 4.2.11):
 * without their hops, other requests to them with their contents, and landings that ended on one. `evidence` itself is
 * not changed.
 */
export function withoutFirstDomains(evidence: Evidence, count: number): Evidence {
  const { landings, creative, creativeHtml, requests, observations, documents, bodies, vast, vastDocuments } = evidence;
  const skipped = firstDomains(landings, count);
  if (skipped.size === 0) return evidence;

  const isSkipped = (url: string) => skipped.has(registrableDomain(url));
  const left = landings.filter(({ final_url }) => !isSkipped(final_url));
  const ords = new Set(left.map(({ ord }) => ord));
  const isLeft = (landing: number | null) => landing === null || ords.has(landing);
  return {
    ...evidence,
    landings: left.map((landing) => ({
      ...landing,
      redirect_chain: landing.redirect_chain.filter(({ url }) => !isSkipped(url)),
    })),
    creative: creative && {
      ...creative,
      redirect_chain: creative.redirect_chain.filter(({ url }) => !isSkipped(url)),
    },
    creativeHtml: isSkipped(creative?.url ?? '') ? '' : creativeHtml,
    requests: requests.filter(({ url }) => !isSkipped(url)),
    observations: observations.filter(({ landing, url }) => isLeft(landing) && !isSkipped(url)),
    documents: documents.filter(({ landing, url }) => isLeft(landing) && !isSkipped(url)),
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
