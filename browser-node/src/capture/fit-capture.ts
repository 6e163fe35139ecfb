import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop } from '@adsweep/shared/capture/hop.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { combineNotes, type Note, type NoteKind, note } from '@adsweep/shared/capture/notes.ts';
import { CAPTURE_BYTES_MAX, CAPTURE_REQUESTS_BYTES_MAX, CAPTURE_VALUES_MAX } from '@adsweep/shared/limits.ts';

/**
 * Reserved for what is added to a capture later: notes, and once its files are uploaded, the exit, the traffic and the
 * artifacts.
 */
const LATER = { bytes: 64 * 1024, values: 2_000 };
/** Resource types, lowest priority first; a type that is not listed has a higher one. */
const LOW_PRIORITY = ['media', 'font', 'image', 'stylesheet', 'texttrack', 'manifest', 'prefetch', 'other', 'ping'];
/** Lengths in characters to which texts outside of the requests are cut, one after the other until the capture fits. */
const TEXT_LENGTHS = [2_048, 512, 128];
/** The length at which no capture without lists is too large. It leaves every enumerated value whole. */
const LEAST_TEXT_LENGTH = 64;

/** The size of a value as JSON, in bytes and in values (members and elements, containers included). */
type Size = { bytes: number; values: number };
/** What was left out so far. */
type Fitted = { capture: Capture; notes: Note[] };
/** Makes a capture smaller. `excess`: by how much it is too large. */
type Step = (fitted: Fitted, excess: Size) => Fitted;

/** What makes a capture smaller, in this order, as far as it is needed. */
const STEPS: Step[] = [
  (fitted) => leaveOutRequests(fitted, excessOf(sizeOf(fitted.capture.requests), REQUESTS_MAX)),
  ...TEXT_LENGTHS.map(
    (length): Step =>
      (fitted) =>
        cutTexts(fitted, length),
  ),
  leaveOutRequests,
  leaveOutTrackers,
  leaveOutObservations,
  leaveOutHops,
  (fitted) => cutTexts(fitted, LEAST_TEXT_LENGTH),
];

const REQUESTS_MAX: Size = { bytes: CAPTURE_REQUESTS_BYTES_MAX, values: CAPTURE_VALUES_MAX };

/**
 * A capture that the node API accepts: below `bytesMax` as JSON. Requests, then trackers, then observations are left
 * out, each with a note. A capture that fits is returned unchanged. Pure.
 */
export function fitCapture(capture: Capture, bytesMax = CAPTURE_BYTES_MAX): Capture {
  const max = { bytes: bytesMax - LATER.bytes, values: CAPTURE_VALUES_MAX - LATER.values };
  let fitted: Fitted = { capture, notes: [] };
  for (const step of STEPS) {
    const excess = excessOf(sizeOf(fitted.capture), max);
    if (!isExcess(excess)) break;
    fitted = step(fitted, excess);
  }
  return fitted.notes.length === 0
    ? capture
    : { ...fitted.capture, notes: combineNotes([...fitted.notes, ...capture.notes]) };
}

const isExcess = ({ bytes, values }: Size): boolean => bytes > 0 || values > 0;
const excessOf = (size: Size, max: Size): Size => ({ bytes: size.bytes - max.bytes, values: size.values - max.values });

/** Leaves out the requests with the lowest priority; of equal priority, the longest. */
function leaveOutRequests({ capture, notes }: Fitted, excess: Size): Fitted {
  const { kept, left } = leaveOut(capture.requests, excess, priorityOf);
  const ids = new Set(kept.map(({ id }) => id));
  const requests = kept.map((request) =>
    request.initiator === null || ids.has(request.initiator) ? request : { ...request, initiator: null },
  );
  return { capture: { ...capture, requests }, notes: withNote(notes, 'requests', left) };
}

function priorityOf({ resource_type }: NetworkRequest): number {
  const index = LOW_PRIORITY.indexOf(resource_type);
  return index < 0 ? LOW_PRIORITY.length : index;
}

/** Leaves out the longest trackers; first those that were not requested. */
function leaveOutTrackers(fitted: Fitted, excess: Size): Fitted {
  const { vast } = fitted.capture;
  if (!vast) return fitted;
  const { kept, left } = leaveOut(vast.trackers, excess, ({ requested_at_ms }) => (requested_at_ms === null ? 0 : 1));
  const shorter = { ...vast, trackers: kept, trackers_left_out: vast.trackers_left_out + left };
  return { capture: { ...fitted.capture, vast: shorter }, notes: withNote(fitted.notes, 'trackers', left) };
}

/** Leaves out the longest observations. */
function leaveOutObservations({ capture, notes }: Fitted, excess: Size): Fitted {
  const { kept, left } = leaveOut(capture.observations, excess, () => 0);
  return { capture: { ...capture, observations: kept }, notes: withNote(notes, 'observations', left) };
}

/** Leaves the first and the last hop of each chain. No request is left that refers to a hop by its place. */
function leaveOutHops({ capture, notes }: Fitted): Fitted {
  const { creative, landings } = capture;
  const ends = (chain: CapturedHop[]) => (chain.length <= 2 ? chain : [chain[0]!, chain.at(-1)!]);
  const chains = [...landings, ...(creative ? [creative] : [])].map(({ redirect_chain }) => redirect_chain);
  const left = chains.reduce((sum, chain) => sum + chain.length - ends(chain).length, 0);
  const shorter: Capture = {
    ...capture,
    ...(creative && { creative: { ...creative, redirect_chain: ends(creative.redirect_chain) } }),
    landings: landings.map((landing) => ({ ...landing, redirect_chain: ends(landing.redirect_chain) })),
  };
  return { capture: shorter, notes: withNote(notes, 'hops', left) };
}

/**
 * Leaves out items until `excess` is gone, those of the lowest rank first, and of equal rank the longest. The others
 * keep their order.
 */
function leaveOut<T>(items: readonly T[], excess: Size, rankOf: (item: T) => number): { kept: T[]; left: number } {
  const sized = items.map((item, at) => ({ at, ...sizeOf(item), rank: rankOf(item) }));
  const out = new Set<number>();
  let { bytes, values } = excess;
  for (const item of sized.sort((a, b) => a.rank - b.rank || b.bytes - a.bytes)) {
    if (!isExcess({ bytes, values })) break;
    out.add(item.at);
    // The comma after it.
    bytes -= item.bytes + 1;
    values -= item.values;
  }
  return { kept: items.filter((_, at) => !out.has(at)), left: out.size };
}

const withNote = (notes: Note[], kind: NoteKind, count: number): Note[] =>
  count > 0 ? [...notes, note(kind, { count })] : notes;

/** Cuts all texts outside of the requests. */
function cutTexts({ capture, notes }: Fitted, length: number): Fitted {
  const { requests, ...rest } = capture;
  const others = notes.filter(({ kind }) => kind !== 'texts_cut');
  return { capture: { ...cutStrings(rest, length), requests }, notes: withNote(others, 'texts_cut', length) };
}

/** A copy in which no string of it, or of an object in it, is longer than `length`. */
function cutStrings<T extends object>(record: T, length: number): T {
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') return value.length <= length ? value : value.slice(0, length).toWellFormed();
    if (Array.isArray(value)) return value.map(cut);
    return typeof value === 'object' && value !== null ? cutStrings(value, length) : value;
  };
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, cut(value)])) as T;
}

/** The size of a value that JSON can represent. It is not written as JSON as a whole: that would take up to 200 MB. */
function sizeOf(value: unknown): Size {
  if (typeof value !== 'object' || value === null)
    return { bytes: Buffer.byteLength(JSON.stringify(value)), values: 1 };
  const isList = Array.isArray(value);
  // The brackets; each item has a comma or a bracket after it, each member also a name and a colon.
  const size = { bytes: 2, values: 1 };
  for (const [name, one] of Object.entries(value)) {
    const { bytes, values } = sizeOf(one);
    size.bytes += bytes + 1 + (isList ? 0 : Buffer.byteLength(name) + 3);
    size.values += values;
  }
  return size;
}
