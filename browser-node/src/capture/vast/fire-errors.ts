import { absolute } from './declared-trackers.ts';
import type { Resolution } from './resolution.ts';
import type { TrackerLog } from './tracker-log.ts';

/** Fires the error URLs of an ad with a code; those that were asked for already stay (VAST 4.3, 2.3.6). */
export async function fireAdError(log: TrackerLog, ad: number, errorCode: number): Promise<void> {
  await log.fire(ad, ({ part, event }) => part === 'ad' && event === 'error', { errorCode });
}

/** Requests the error URLs of the branches of the ladder that failed, each with its code (VAST 4.3, 2.3.6). */
export async function fireErrors(log: TrackerLog, { errors, rungs }: Resolution): Promise<void> {
  for (const { code, urls } of errors) {
    const before = log.records.length;
    const declared = urls.map(({ rung, url }) => ({
      rung,
      part: 'document' as const,
      event: 'error',
      offset: null,
      form: null,
      url: absolute(url, rungs[rung]?.fetched?.url ?? ''),
    }));
    log.declare(null, declared);
    const own = new Set<object>(log.records.slice(before));
    await log.fire(null, (tracker) => own.has(tracker), { errorCode: code });
  }
}
