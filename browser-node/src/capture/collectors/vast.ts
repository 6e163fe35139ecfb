import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type CapturedVastDocument, VAST_DOCUMENTS, VAST_XML } from '@adsweep/shared/capture/artifacts.ts';
import type { CapturedRung, CapturedTracker, CapturedVast } from '@adsweep/shared/capture/vast.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import { type Entry, lastOf } from '../session/network-journal.ts';
import { clipUrl } from '../session/urls.ts';
import { mergeDocument } from '../vast/merge-document.ts';
import type { Rung } from '../vast/resolution.ts';
import { addressOf } from '../vast/same-address.ts';
import { type VastRun, vastRunOf } from '../vast/vast-run.ts';
import type { Collector } from './collector.ts';

/** Trackers that are listed. */
const TRACKERS_MAX = 500;
const RUNGS_MAX = 25;

/** What came of a VAST tag: its wrapper ladder, what was played, every tracker declared against fired, and its documents. */
export const vast: Collector = {
  name: 'vast',
  budgetMs: 3_000,
  start: (captureSession) => async (draft) => {
    const run = vastRunOf(captureSession);
    if (!run) return;
    draft.vast = recordOf(run, captureSession.journal.entries());
    draft.files.push(...(await documentFiles(run)));
    // Its requests are trackers and documents, which stand in the record (spec 2.1).
    if (draft.creative) draft.creative.redirect_chain = [];
  },
};

/** The record of a run; what servers answered to its trackers is taken from what the browser asked for. Pure. */
export function recordOf({ resolution, played, log }: VastRun, entries: readonly Entry[]): CapturedVast {
  const trackers = log.records.slice(0, TRACKERS_MAX);
  const answers = answersByAddress(entries);
  return {
    failure: resolution.failure,
    rungs: resolution.rungs.slice(0, RUNGS_MAX).map(asRung),
    rungs_left_out: Math.max(0, resolution.rungs.length - RUNGS_MAX),
    ads: played,
    ads_left_out: resolution.adsLeftOut,
    trackers: trackers.map(({ declared: _, form: __, ...tracker }): CapturedTracker => {
      const answer = tracker.requested_at_ms === null ? undefined : answers(tracker.requested_url);
      const status_code = answer ? lastOf(answer).statusCode : 0;
      return { ...tracker, requested_url: clipUrl(tracker.requested_url), status_code };
    }),
    trackers_left_out: log.records.length - trackers.length + log.leftOut,
  };
}

/** The same URL may be asked for several times: each answer is one tracker's, in order; behind redirects, the last. */
function answersByAddress(entries: readonly Entry[]): (url: string) => Entry | undefined {
  const left = Map.groupBy(entries, ({ url }) => addressOf(url));
  return (url) => left.get(addressOf(url))?.shift();
}

function asRung({ parent, depth, outcome, requestedUrl, fetched, document }: Rung): CapturedRung {
  return {
    parent,
    depth,
    outcome,
    requested_url: clipUrl(requestedUrl),
    url: clipUrl(fetched?.url ?? ''),
    status_code: fetched?.statusCode ?? 0,
    content_type: (fetched?.contentType ?? '').slice(0, 300),
    bytes: Buffer.byteLength(fetched?.text ?? ''),
    readable: fetched?.readable ?? false,
    vast_version: (document?.version ?? '').slice(0, 300),
    ad_system: (document?.ads[0]?.adSystem ?? '').slice(0, 300).toWellFormed(),
    at_ms: fetched?.atMs ?? 0,
    elapsed_ms: fetched?.elapsedMs ?? 0,
  };
}

async function documentFiles({ resolution }: VastRun): Promise<CaptureFile[]> {
  const plain = { width: 0, height: 0 };
  const merged = mergeDocument(resolution);
  const documents = resolution.rungs.flatMap(({ fetched }, rung): CapturedVastDocument[] =>
    fetched?.text ? [{ rung, text: fetched.text.toWellFormed() }] : [],
  );
  const zipped = await promisify(gzip)(JSON.stringify(documents), { level: 3 });
  return [
    { name: VAST_DOCUMENTS, contentType: 'application/gzip', bytes: zipped, ...plain },
    ...(merged === null
      ? []
      : [{ name: VAST_XML, contentType: 'application/xml', bytes: Buffer.from(merged), ...plain }]),
  ];
}
