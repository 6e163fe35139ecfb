import { Type } from 'typebox';
import { ApiError, notFound } from '../../../http/api-error.ts';
import type { Caller } from '../../../http/caller.ts';
import { type Route, route } from '../../../http/route.ts';
import { stateOf } from '../../../scan/scan-state.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';
import { openStateStream, type WatchScan } from './state-stream.ts';

/** The dependencies of the stream of a scan's states; `closing` aborts when the process begins to stop. */
export type EventsParts = {
  scans: Pick<ScanStore, 'find'>;
  watchScan: WatchScan;
  /** Whether the caller's key is still valid. */
  isStillValid: (caller: Caller) => Promise<boolean>;
  closing: AbortSignal;
};

/** Streams that one organization may have open in this process. */
const STREAMS_MAX = 100;

/** Streams a scan's changes of state as they happen, so that clients need not poll. */
export function eventsRoute({ scans, watchScan, isStillValid, closing }: EventsParts): Route<Caller> {
  const open = new Map<string, number>();
  const count = (organizationId: string, more: number) => {
    const streams = (open.get(organizationId) ?? 0) + more;
    if (streams > 0) open.set(organizationId, streams);
    else open.delete(organizationId);
  };

  return route({
    method: 'GET',
    path: '/api/v1/scans/{id}/events',
    group: 'Scans',
    summary: 'Follow a scan',
    description:
      'An event stream (`text/event-stream`): `event: state` with `{ id, status, retry_attempt, at }`, the current state first. It ends after a final state, and when the API key is revoked or expires. A comment every 15 seconds keeps it open.',
    permission: 'scans.read',
    params: Type.Object({ id: Type.String({ description: 'The scan.' }) }),
    replies: { 200: { description: 'The states of the scan.', content: 'text/event-stream' } },
    errors: ['not_found', 'unavailable'],
    handle: async ({ caller, params: { id } }) => {
      const { organizationId } = caller;
      const read = async () => {
        const scan = await scans.find(organizationId, id);
        return scan && stateOf(scan);
      };
      if (!(await read())) throw notFound('scan');
      if ((open.get(organizationId) ?? 0) >= STREAMS_MAX)
        throw new ApiError('unavailable', 'Too many streams are open.', { headers: { 'Retry-After': '15' } });
      count(organizationId, 1);
      try {
        const stream = await openStateStream(id, watchScan, read, () => isStillValid(caller), closing);
        stream.once('close', () => count(organizationId, -1));
        return { status: 200, type: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' }, body: stream };
      } catch (error) {
        count(organizationId, -1);
        throw error;
      }
    },
  });
}
