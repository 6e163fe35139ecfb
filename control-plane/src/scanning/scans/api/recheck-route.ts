import { HOUR_MS } from '@adsweep/shared/durations.ts';
import { newId } from '@adsweep/shared/ids.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { notFound } from '../../../http/api-error.ts';
import type { Caller } from '../../../http/caller.ts';
import { ok, type Route, route } from '../../../http/route.ts';
import { type RecheckParts, type RecheckScope, recheckScan, recheckScans } from '../../../scan/recheck.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';
import { issueAt } from '../request/checks/check.ts';
import { RecheckSchema } from './responses.ts';

/** The dependencies of the operations; `requireRecheckable` throws 403 if the organization may recheck nothing. */
export type RecheckRouteParts = RecheckParts & {
  requireRecheckable: (organizationId: string) => Promise<unknown>;
};

const ERRORS = ['billing.suspended', 'billing.insufficient_funds', 'storage.quota_exhausted'] as const;

/** The maximum of each scope, in scans and hours. */
const SCOPE_MAX = { last_n: 5_000, hours: 72 };

const RecheckInSchema = Type.Object(
  {
    scope_type: Type.Enum(['last_n', 'hours'], {
      description: '`last_n`: the newest scans that have finished. `hours`: those that completed in the last hours.',
    }),
    scope_value: Type.Integer({ minimum: 1, description: 'Up to 5,000 scans, or 72 hours.' }),
  },
  { additionalProperties: false, title: 'RecheckIn' },
);

type RecheckIn = Static<typeof RecheckInSchema>;

/** Starts the analysis of existing scans again (spec 4.2). */
export function recheckRoute(parts: RecheckRouteParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/scans/recheck',
    group: 'Scans',
    summary: 'Check scans again',
    description:
      'Analyses what finished scans have captured again, with the current rules and tags: nothing is crawled and nothing is charged. Their tags are replaced, and the events of a finished scan are sent again. A capture that is older than a day no longer has its contents, and only 200 of its requests. Scans whose analysis is already being repeated, or whose evidence was removed, are left unchanged. An organization may recheck 50,000 scans in a day (UTC): beyond them the request gets 429, and only the scans before are checked again: repeat it with its `Idempotency-Key` on the next day for the rest. Where an AI model is set and balances are enforced, the balance must cover one check.',
    permission: 'scans.write',
    body: RecheckInSchema,
    replies: { 200: { description: 'How many scans are checked again.', schema: RecheckSchema } },
    errors: [...ERRORS],
    runsOnce: () => true,
    refine: ({ body }) => scopeIssues(body),
    handle: async ({ caller: { organizationId }, body, recordId }) => {
      await parts.requireRecheckable(organizationId);
      const scope = scopeOf(body, new Date());
      return ok({ queued_count: await recheckScans(parts, organizationId, scope, recordId ?? newId()) });
    },
  });
}

/** Starts the analysis of one scan again. */
export function recheckOneRoute(parts: RecheckRouteParts & { scans: Pick<ScanStore, 'find'> }): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/scans/{id}/recheck',
    group: 'Scans',
    operationId: 'recheckScan',
    summary: 'Check a scan again',
    description:
      'Analyses what the scan has captured again, as `POST /scans/recheck` does. A scan that is neither `completed` nor `partial`, or whose evidence was removed, is left unchanged.',
    permission: 'scans.write',
    params: Type.Object({ id: Type.String({ description: 'The scan.' }) }),
    replies: { 200: { description: '1, or 0 if the scan was left unchanged.', schema: RecheckSchema } },
    errors: ['not_found', ...ERRORS],
    runsOnce: () => true,
    handle: async ({ caller: { organizationId }, params: { id }, recordId }) => {
      await parts.requireRecheckable(organizationId);
      const scan = await parts.scans.find(organizationId, id);
      if (!scan) throw notFound('scan');
      return ok({ queued_count: await recheckScan(parts, scan, recordId ?? newId()) });
    },
  });
}

function scopeIssues({ scope_type, scope_value }: Partial<RecheckIn>): Issue[] {
  const most = scope_type && SCOPE_MAX[scope_type];
  if (most === undefined || scope_value === undefined || scope_value <= most) return [];
  return [issueAt('scope_value', 'less_than_equal', `Must be at most ${most}.`, scope_value, { le: most })];
}

function scopeOf({ scope_type, scope_value }: RecheckIn, now: Date): RecheckScope {
  if (scope_type === 'last_n') return { newest: scope_value };
  return { completedSince: new Date(now.getTime() - scope_value * HOUR_MS) };
}
