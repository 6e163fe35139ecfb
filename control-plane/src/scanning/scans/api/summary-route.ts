import { HOUR_MS } from '@adsweep/shared/durations.ts';
import { Type } from 'typebox';
import type { Caller } from '../../../http/caller.ts';
import { moment, ok, type Route, route } from '../../../http/route.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';

const Count = Type.Integer({ minimum: 0 });

const SummarySchema = Type.Object(
  {
    waiting: Count,
    running: Type.Integer({ minimum: 0, description: 'Those that are crawled, or analysed.' }),
    since: moment('An hour ago.'),
    ended: Type.Object(
      { completed: Count, partial: Count, failed: Count },
      { description: 'Scans that have ended since then, 1,000 in all at most.' },
    ),
  },
  { title: 'ScanSummary' },
);

/** How many scans wait, run, and have ended in the last hour: one request instead of one for each state. */
export function summaryRoute({ scans }: { scans: Pick<ScanStore, 'countByState'> }): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/scans/summary',
    group: 'Scans',
    operationId: 'getScanSummary',
    summary: 'Scans by state',
    description: 'How many scans wait and run, and how many have ended in the last hour.',
    permission: 'scans.read',
    replies: { 200: { description: 'The numbers.', schema: SummarySchema } },
    handle: async ({ caller }) => {
      const since = new Date(Date.now() - HOUR_MS);
      const counts = await scans.countByState(caller.organizationId, since);
      return ok({ ...counts, since: since.toISOString() });
    },
  });
}
