import type { ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { Capture, CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop, Hop, SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { validNotes } from '@adsweep/shared/capture/notes.ts';
import type { EvidenceCreative, EvidenceLanding, ScanEvidence } from '../../scanning/scans/api/evidence.ts';
import type { CaptureRecord } from './capture-record.ts';
import { hopDocumentsOf } from './choose-requests.ts';
import { presentVast } from './present-vast.ts';

/**
 * The evidence in a capture: landings by ordinal and the creative, each hop with the tree of requests that its document
 * made.
 */
export function evidenceOf({ capture, artifacts }: Pick<CaptureRecord, 'capture' | 'artifacts'>): ScanEvidence {
  const trees = requestTrees(capture);
  return {
    landings: presentLandings(capture, trees),
    creative: presentCreative(capture, trees),
    vast: capture.vast ? presentVast(capture.vast) : null,
    adBlocks: capture.ad_blocks?.map(presentAdBlock) ?? null,
    artifacts: new Map(artifacts.map(({ name, width, height }) => [name, { width, height }])),
    notes: validNotes(capture.notes),
  };
}

function presentLandings(capture: Capture, trees: RequestTrees): EvidenceLanding[] {
  return capture.landings
    .toSorted((a, b) => a.ord - b.ord)
    .map((landing) => ({
      ord: landing.ord,
      opener_url: landing.opener_url,
      final_url: landing.final_url,
      offer_url: landing.final_url,
      page_title: landing.page_title,
      screenshot: landing.screenshot,
      redirect_chain: presentChain(landing.redirect_chain, landing.ord, trees),
      elapsed_ms: landing.elapsed_ms,
      created_at: openedAt(capture, landing),
    }));
}

function presentCreative({ creative }: Capture, trees: RequestTrees): EvidenceCreative | null {
  if (!creative) return null;
  const { width, height, page_url, redirect_chain } = creative;
  const requests = trees('creative', NO_HOP);
  return { width, height, page_url, redirect_chain: presentChain(redirect_chain, 'creative', trees), requests };
}

/** Copied field by field, as hops are. */
function presentAdBlock(block: ListedAdBlock): ListedAdBlock {
  const { identity, slot_index, ad_kind, network, network_host, x, y, width, height, signals, not_scanned } = block;
  return { identity, slot_index, ad_kind, network, network_host, x, y, width, height, signals, not_scanned };
}

function openedAt(capture: Capture, landing: CapturedLanding): Date {
  const started = Date.parse(capture.started_at);
  return new Date((Number.isNaN(started) ? 0 : started) + landing.opened_at_ms);
}

/** Owner of a redirect chain: the landing with this ordinal, or the creative. */
type ChainOwner = number | 'creative';

/** The place of the requests of a creative that has no hops. */
const NO_HOP = -1;

/** The requests of each hop's document, as trees by initiator. */
type RequestTrees = (owner: ChainOwner, hop: number) => SubRequest[];

/**
 * Builds the request trees of a capture. Initiators are not trusted: a request that names itself, a later request or
 * one of another hop as its initiator becomes a root. A request without a hop, such as a beacon sent on unload that
 * only the gateway saw, is assigned to the last hop of its tab, or, if its tab is unknown too, to that of the creative
 * or of the page's own tab.
 */
function requestTrees(capture: Capture): RequestTrees {
  const { requests, landings, creative } = capture;
  const ofHops = hopDocumentsOf(capture);
  const lastHops = new Map<ChainOwner, number>(
    landings.map(({ ord, redirect_chain }) => [ord, redirect_chain.length - 1]),
  );
  if (creative) lastHops.set('creative', creative.redirect_chain.length - 1);
  const [roots, seen] = [new Map<string, SubRequest[]>(), new Map<string, SubRequest>()];
  for (const request of requests) {
    if (ofHops.has(request)) continue;
    const owner = ownerOf(request, creative !== undefined);
    const key = hopKeyOf(owner, request.hop ?? lastHops.get(owner) ?? 0);
    const node = presentRequest(request);
    const cause = request.initiator === null ? undefined : seen.get(`${key}:${request.initiator}`);
    if (cause) cause.children.push(node);
    else if (!roots.get(key)?.push(node)) roots.set(key, [node]);
    seen.set(`${key}:${request.id}`, node);
  }
  return (owner, hop) => roots.get(hopKeyOf(owner, hop)) ?? [];
}

/**
 * Presents each hop of a chain with its requests. Copied field by field, so that unknown fields of a node's capture
 * never reach clients.
 */
const presentChain = (chain: readonly CapturedHop[], owner: ChainOwner, trees: RequestTrees): Hop[] =>
  chain.map((hop, at) => {
    const { url, kind, status_code, content_type, body_size, timestamp_ms, redirected_from } = hop;
    const sub_requests = trees(owner, at);
    return { url, kind, status_code, content_type, body_size, timestamp_ms, redirected_from, sub_requests };
  });

function ownerOf({ surface, landing }: NetworkRequest, hasCreative: boolean): ChainOwner {
  if (surface === 'creative') return 'creative';
  return landing ?? (hasCreative ? 'creative' : 0);
}

const hopKeyOf = (owner: ChainOwner, hop: number): string => `${owner}:${hop}`;

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
