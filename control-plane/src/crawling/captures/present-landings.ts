import type { Capture, CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop, Hop, SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { EvidenceLanding } from '../../scanning/scans/api/evidence-landing.ts';
import type { CaptureRecord } from './capture-record.ts';

/** The landings of a capture by ordinal, each hop with the tree of requests its document made. */
export function landingsOf({ capture }: Pick<CaptureRecord, 'capture'>): EvidenceLanding[] {
  const trees = requestTrees(capture);
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

/** Names every field it takes: what else a node wrote into a hop is nobody's business. */
function presentHop(hop: CapturedHop, sub_requests: SubRequest[]): Hop {
  const { url, kind, status_code, content_type, body_size, timestamp_ms, redirected_from } = hop;
  return { url, kind, status_code, content_type, body_size, timestamp_ms, redirected_from, sub_requests };
}

function openedAt(capture: Capture, landing: CapturedLanding): Date {
  const started = Date.parse(capture.started_at);
  return new Date((Number.isNaN(started) ? 0 : started) + landing.opened_at_ms);
}

/**
 * The requests of each hop (`<landing>:<hop>`), as trees of who caused whom. What a node says of initiators is not believed: a request
 * caused by itself, by a later one or by one of another hop stands at the top. A request of unknown origin, such as a beacon that only the
 * gateway saw when the page was left, stands with the last hop of its tab, or of the page's own.
 */
function requestTrees({ requests, landings }: Capture): Map<string, SubRequest[]> {
  const lastHops = new Map(landings.map(({ ord, redirect_chain }) => [ord, redirect_chain.length - 1]));
  const roots = new Map<string, SubRequest[]>();
  const seen = new Map<string, SubRequest>();
  for (const request of requests) {
    const landing = request.landing ?? 0;
    const place = `${landing}:${request.hop ?? lastHops.get(landing)}`;
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
