import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop } from '@adsweep/shared/capture/hop.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { CAPTURE_BYTES_MAX, CAPTURE_REQUESTS_BYTES_MAX } from '@adsweep/shared/limits.ts';

/** Reserved for what is added to a capture once its files are uploaded: the exit, the traffic and the artifacts. */
const LATER_BYTES = 64 * 1024;
/** Resource types, lowest priority first; a type that is not listed has a higher one. */
const LOW_PRIORITY = ['media', 'font', 'image', 'stylesheet', 'texttrack', 'manifest', 'prefetch', 'other', 'ping'];
/** Lengths in characters to which URLs outside of the requests are cut, one after the other until the capture fits. */
const URL_LENGTHS = [2_048, 512, 128];

/**
 * A capture that the node API accepts: below `bytesMax` as JSON. The requests with the lowest priority are left out, and a note says so.
 * A capture that fits is returned unchanged. Pure.
 */
export function fitCapture(capture: Capture, bytesMax = CAPTURE_BYTES_MAX): Capture {
  const { requests, left } = fitRequests(capture.requests, Math.min(CAPTURE_REQUESTS_BYTES_MAX, bytesMax));
  const notes = [...capture.notes];
  if (left > 0)
    notes.unshift({ collector: 'requests', text: `${left} requests are left out: the capture was too large` });
  let fitted: Capture = left > 0 ? { ...capture, requests, notes } : capture;
  for (const length of URL_LENGTHS) {
    if (bytesOf({ ...fitted, requests: [] }) + bytesOf(requests) + LATER_BYTES <= bytesMax) break;
    const text = `URLs of hops and observations are cut to ${length} characters: the capture was too large`;
    fitted = { ...withUrlsOf(fitted, length), notes: [{ collector: 'capture', text }, ...notes].slice(0, 200) };
  }
  return { ...fitted, notes: fitted.notes.slice(0, 200) };
}

/** The requests with the highest priority whose JSON takes at most `bytesMax`, in their order; of equal priority, the longest are dropped first. Pure. */
function fitRequests(all: NetworkRequest[], bytesMax: number): { requests: NetworkRequest[]; left: number } {
  const sized = all.map((request) => ({ request, bytes: bytesOf(request) + 1, priority: priorityOf(request) }));
  let total = sized.reduce((sum, { bytes }) => sum + bytes, 2);
  if (total <= bytesMax) return { requests: all, left: 0 };
  const leftOut = new Set<number>();
  for (const { request, bytes } of sized.sort((a, b) => a.priority - b.priority || b.bytes - a.bytes)) {
    if (total <= bytesMax) break;
    leftOut.add(request.id);
    total -= bytes;
  }
  const requests = all.flatMap((request) => {
    if (leftOut.has(request.id)) return [];
    return request.initiator !== null && leftOut.has(request.initiator) ? [{ ...request, initiator: null }] : [request];
  });
  return { requests, left: leftOut.size };
}

function priorityOf({ resource_type }: NetworkRequest): number {
  const index = LOW_PRIORITY.indexOf(resource_type);
  return index < 0 ? LOW_PRIORITY.length : index;
}

function withUrlsOf(capture: Capture, length: number): Capture {
  const cut = (url: string) => url.slice(0, length);
  const cutChain = (chain: CapturedHop[]) =>
    chain.map((hop) => ({ ...hop, url: cut(hop.url), redirected_from: cut(hop.redirected_from) }));
  return {
    ...capture,
    ...(capture.creative && {
      creative: { ...cutStrings(capture.creative, length), redirect_chain: cutChain(capture.creative.redirect_chain) },
    }),
    ...(capture.vast && { vast: cutStrings(capture.vast, length) }),
    landings: capture.landings.map((landing) => ({
      ...landing,
      opener_url: cut(landing.opener_url),
      redirect_chain: cutChain(landing.redirect_chain),
    })),
    observations: capture.observations.map((observation) => cutStrings(observation, length)),
  };
}

/** A copy in which no string of it, or of an object in it, is longer than `length`. */
function cutStrings<T extends object>(record: T, length: number): T {
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') return value.slice(0, length);
    if (Array.isArray(value)) return value.map(cut);
    return typeof value === 'object' && value !== null ? cutStrings(value, length) : value;
  };
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, cut(value)])) as T;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
