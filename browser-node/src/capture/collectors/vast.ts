import { type CapturedVastDocument, VAST_DOCUMENTS, VAST_XML } from '@adsweep/shared/capture/artifacts.ts';
import type { CapturedTracker, CapturedVast, CapturedWrapper } from '@adsweep/shared/capture/vast.ts';
import { type CaptureFile, jsonFile } from '../session/capture-outcome.ts';
import { type Entry, lastOf } from '../session/journal-entry.ts';
import { clipUrl } from '../session/urls.ts';
import { mergeDocument } from '../vast/merge-document.ts';
import { requestsOfTrackers } from '../vast/requests-by-url.ts';
import type { VastRun } from '../vast/vast-run.ts';
import type { ChainDocument } from '../vast/wrapper-chain.ts';
import type { Collector } from './collector.ts';

/** The most trackers and documents that are listed. */
const TRACKERS_MAX = 500;
const DOCUMENTS_MAX = 25;

/**
 * The result of a VAST tag: its wrapper chain, the ads that were played, which trackers were declared and requested,
 * and its documents.
 */
export const vast: Collector = {
  name: 'vast',
  start:
    (capture) =>
    async (draft, { vast: run }) => {
      if (!run) return;
      draft.vast = recordOf(run, capture.journal.all());
      draft.files.push(...(await documentFiles(run)));
      // Its requests are trackers and documents, which are listed in the record (spec 2.1).
      if (draft.creative) draft.creative.redirect_chain = [];
    },
};

/**
 * The record of a run. A tracker counts as requested only if the browser made its request, and its status is that of
 * the response. Pure.
 */
export function recordOf({ resolution, played, log }: VastRun, entries: readonly Entry[]): CapturedVast {
  const trackers = log.records.slice(0, TRACKERS_MAX);
  const requests = requestsOfTrackers(log.records, entries);
  return {
    failure: resolution.failure,
    rungs: resolution.chain.slice(0, DOCUMENTS_MAX).map(asWrapper),
    rungs_left_out: Math.max(0, resolution.chain.length - DOCUMENTS_MAX),
    ads: played,
    ads_left_out: resolution.adsLeftOut,
    trackers: trackers.map((logged): CapturedTracker => {
      const { declared: _, form: __, ...tracker } = logged;
      const request = requests.get(logged);
      if (!request || request.isStopped) return { ...tracker, ...NOT_REQUESTED };
      // Of redirects, the status of the last response; the gateway's is not the server's.
      const { statusCode, gateway } = lastOf(request);
      return { ...tracker, requested_url: clipUrl(tracker.requested_url), status_code: gateway ? 0 : statusCode };
    }),
    trackers_left_out: log.records.length - trackers.length + log.leftOut,
  };
}

const NOT_REQUESTED = { requested_url: '', requested_at_ms: null, playhead_ms: null, status_code: 0 };

function asWrapper({ parent, depth, outcome, requestedUrl, fetched, vast }: ChainDocument): CapturedWrapper {
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
    vast_version: (vast?.version ?? '').slice(0, 300),
    ad_system: (vast?.ads[0]?.adSystem ?? '').slice(0, 300).toWellFormed(),
    at_ms: fetched?.atMs ?? 0,
    elapsed_ms: fetched?.elapsedMs ?? 0,
  };
}

async function documentFiles({ resolution }: VastRun): Promise<CaptureFile[]> {
  const merged = mergeDocument(resolution);
  const documents = resolution.chain.flatMap(({ fetched }, rung): CapturedVastDocument[] =>
    fetched?.text ? [{ rung, text: fetched.text.toWellFormed() }] : [],
  );
  return [
    await jsonFile(VAST_DOCUMENTS, documents),
    ...(merged === null
      ? []
      : [{ name: VAST_XML, contentType: 'application/xml', bytes: Buffer.from(merged), width: 0, height: 0 }]),
  ];
}
