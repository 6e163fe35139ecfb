import type { Capture, CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop, Hop, SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { CaptureRecord } from './capture-record.ts';

/** A landing as clients see it, but for its links; `screenshot` names its artifact, null = there is none. */
export type Landing = {
  ord: number;
  opener_url: string;
  final_url: string;
  offer_url: string;
  page_title: string;
  screenshot: string | null;
  redirect_chain: Hop[];
  elapsed_ms: number;
  created_at: Date;
};

/** The landings of a capture by ordinal, each hop with the tree of requests its document made. */
export function landingsOf({ capture }: Pick<CaptureRecord, 'capture'>): Landing[] {
  const trees = requestTrees(capture.requests);
  return capture.landings
    .toSorted((a, b) => a.ord - b.ord)
    .map((landing) => ({
      ord: landing.ord,
      opener_url: landing.opener_url,
      final_url: landing.final_url,
      offer_url: landing.final_url,
      page_title: landing.page_title,
      screenshot: landing.screenshot,
      redirect_chain: landing.redirect_chain.map((hop, at) => presentHop(hop, trees.get(`${landing.ord}:${at}`) ?? [])),
      elapsed_ms: landing.elapsed_ms,
      created_at: openedAt(capture, landing),
    }));
}

function presentHop(hop: CapturedHop, sub_requests: SubRequest[]): Hop {
  return { ...hop, sub_requests };
}

function openedAt(capture: Capture, landing: CapturedLanding): Date {
  const started = Date.parse(capture.started_at);
  return new Date((Number.isNaN(started) ? 0 : started) + landing.opened_at_ms);
}

/**
 * The requests of each hop (`<landing>:<hop>`), as trees of who caused whom. What a node says of initiators is not believed: a request
 * caused by itself, by a later one or by one of another hop stands at the top.
 */
function requestTrees(requests: NetworkRequest[]): Map<string, SubRequest[]> {
  const roots = new Map<string, SubRequest[]>();
  const seen = new Map<string, SubRequest>();
  for (const request of requests) {
    if (request.landing === null || request.hop === null) continue;
    const place = `${request.landing}:${request.hop}`;
    const node = presentRequest(request);
    const cause = request.initiator === null ? undefined : seen.get(`${place}:${request.initiator}`);
    if (cause) cause.children.push(node);
    else roots.set(place, [...(roots.get(place) ?? []), node]);
    seen.set(`${place}:${request.id}`, node);
  }
  return roots;
}

function presentRequest({
  url,
  resource_type,
  status_code,
  content_type,
  body_size,
  timestamp_ms,
}: NetworkRequest): SubRequest {
  return { url, resource_type, status_code, content_type, body_size, timestamp_ms, children: [] };
}
