import { gunzipSync } from 'node:zlib';
import {
  BODIES,
  CAPTURED_ITEMS_BOUNDS,
  type CapturedItems,
  DOCUMENTS,
  isItemOf,
  VAST_DOCUMENTS,
} from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { validNotes } from '@adsweep/shared/capture/notes.ts';
import { validObservations } from '@adsweep/shared/capture/observations/index.ts';
import { showsCreative } from '@adsweep/shared/capture/scanned-kind.ts';
import { attemptOf, type ReadContents, type ReadPackedCapture } from '../../crawling/captures/capture-record.ts';
import { JsonListReader } from '../../platform/json-list.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { Evidence, Need } from './evidence.ts';

/** The properties of a scan that decide how, and in whose share of the threads, its evidence is inspected. */
export type InspectedScan = Pick<ScanRecord, 'organization_id' | 'ignore_first_n_domains' | 'referrer' | 'ad_block'>;

/**
 * A scan's evidence on its way to a thread, as it is stored: gzipped JSON, the creative's HTML as UTF-8. A part is null
 * if it is not needed, or not stored (any more).
 */
export type PackedScan = {
  scan: InspectedScan;
  capture: Uint8Array;
  parts: Record<Need, Uint8Array | null>;
  /** Parts that are recorded and whose files are gone: by a rule of the bucket, or a disk that was restored in part. */
  lost: Need[];
  unpackedBytesMax: number;
};

/** Where the evidence of a scan is read. */
export type EvidenceSources = { readPackedCapture: ReadPackedCapture; bodies: ReadContents };

type StoredPart = Parameters<ReadContents['packed']>[1][number];
type PackedParts = Awaited<ReturnType<ReadContents['packed']>>;

/** Where each part is stored. */
const PARTS: [need: Need, part: StoredPart][] = [
  ['requests', 'requests'],
  ['documents', 'documents'],
  ['bodies', 'bodies'],
  ['vastDocuments', 'vast_documents'],
  ['creativeHtml', 'creative_html'],
];

/** Reads a scan's capture and those of its parts that are needed; null: the capture is gone. */
export async function packScan(
  { readPackedCapture, bodies }: EvidenceSources,
  scan: ScanRecord,
  needs: ReadonlySet<Need>,
): Promise<PackedScan | null> {
  const capture = await readPackedCapture(scan);
  if (!capture || !scan.capture) return null;
  const attempt = attemptOf(scan.capture.id);
  const wanted = PARTS.filter(([need]) => needs.has(need) && (need !== 'creativeHtml' || showsCreative(scan)));
  const read: Partial<PackedParts> = await bodies.packed(
    attempt,
    wanted.map(([, part]) => part),
  );
  const bytesOf = (part: StoredPart) => (read[part] === 'lost' ? null : (read[part] ?? null));
  const { organization_id, ignore_first_n_domains, referrer, ad_block } = scan;
  return {
    scan: { organization_id, ignore_first_n_domains, referrer, ...(ad_block && { ad_block }) },
    capture,
    parts: Object.fromEntries(PARTS.map(([need, part]) => [need, bytesOf(part)])) as PackedScan['parts'],
    lost: PARTS.filter(([, part]) => read[part] === 'lost').map(([need]) => need),
    unpackedBytesMax: bodies.unpackedBytesMax,
  };
}

/** A part of the evidence that is stored and cannot be read. */
export type UnreadablePart = { name: Need; cause: string };

/**
 * Unpacks evidence. A part that is lost, or that a node of an earlier version sent and that is not a list of its items,
 * is empty, and listed in `unreadable`. Takes longer the larger it is: only for threads.
 */
export function unpackScan(packed: PackedScan): { evidence: Evidence; unreadable: UnreadablePart[] } {
  const { scan, parts, lost, unpackedBytesMax } = packed;
  const unreadable: UnreadablePart[] = lost.map((name) => ({ name, cause: 'its file is gone' }));
  const unzip = (bytes: Uint8Array) => gunzipSync(bytes, { maxOutputLength: unpackedBytesMax });
  const read = (bytes: Uint8Array | null) => bytes && JSON.parse(unzip(bytes).toString());
  const list = <Name extends keyof CapturedItems>(need: Need, name: Name): CapturedItems[Name][] => {
    const bytes = parts[need];
    try {
      return bytes ? itemsIn(unzip(bytes), name) : [];
    } catch (cause) {
      unreadable.push({ name: need, cause: String(cause) });
      return [];
    }
  };
  const capture = read(packed.capture) as Capture;
  const { landings, requests, vast = null, exit, observations, notes } = capture;
  const creative = scan.ad_block?.ad_kind === 'pop' ? null : (capture.creative ?? null);
  const evidence = {
    landings,
    creative,
    vast,
    exit,
    observations: validObservations(observations),
    notes: validNotes(notes),
    requests: read(parts.requests) ?? requests,
    documents: list('documents', DOCUMENTS),
    bodies: list('bodies', BODIES),
    vastDocuments: vast ? list('vastDocuments', VAST_DOCUMENTS) : [],
    creativeHtml: creative && parts.creativeHtml ? Buffer.from(parts.creativeHtml).toString() : '',
  };
  return { evidence, unreadable };
}

/** The items of an unzipped file. Throws where it is not a list of them, before much memory is used. */
function itemsIn<Name extends keyof CapturedItems>(json: Buffer, name: Name): CapturedItems[Name][] {
  const items: CapturedItems[Name][] = [];
  const reader = new JsonListReader({ ...CAPTURED_ITEMS_BOUNDS, accepts: isItemOf(name) }, (item) => items.push(item));
  reader.push(json);
  reader.end();
  return items;
}
