import { HOUR_MS } from '@adsweep/shared/durations.ts';
import { type Static, Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { moment, ok, orNull, type Route, route } from '../../http/route.ts';
import { rememberBriefly } from '../../platform/remember-briefly.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { OrganizationDepth } from '../queue/read-depth.ts';
import { type ExitUse, exitUses } from './exit-use.ts';
import { queueUnavailable } from './fleet-routes.ts';

/** Whose work waits, and which exits it leaves by. */
export type WorkParts = {
  readOrganizations: () => Promise<OrganizationDepth[]>;
  scans: Pick<ScanStore, 'usedExits'>;
};

const Count = Type.Integer({ minimum: 0 });

const OrganizationQueueSchema = Type.Object(
  {
    organization_id: Type.String(),
    waiting_interactive: Count,
    waiting_bulk: Count,
    waiting_campaign: Count,
    leased: Type.Integer({ minimum: 0, description: 'Jobs that are leased to a node.' }),
    concurrent_leases: orNull(Type.Integer({ description: 'As many can be leased at once; null: any number.' })),
  },
  { title: 'OrganizationQueue' },
);

const TextOrNull = orNull(Type.String());
const ExitUseSchema = Type.Object(
  {
    organization_id: Type.String(),
    provider: Type.String(),
    exit_id: Type.String(),
    country_code: Type.String({ description: 'The requested country.' }),
    proxy_type: Type.String(),
    region: TextOrNull,
    city: TextOrNull,
    isp: TextOrNull,
    verified: orNull(
      Type.Boolean({ description: 'Whether the exit check could tell its address and country; null: it is off.' }),
    ),
    ip: TextOrNull,
    observed_country_code: TextOrNull,
    asn: TextOrNull,
    scans: Count,
    failed: Type.Integer({ minimum: 0, description: 'Scans that failed because of the exit.' }),
    mismatched: Type.Integer({ minimum: 0, description: 'Scans for which it was in another country.' }),
    last_used_at: moment('When the last of these scans ended.'),
  },
  { title: 'ExitUse' },
);

const reading = {
  method: 'GET',
  group: 'Fleet',
  permission: 'fleet.read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
} as const;

/** The newest scans that are looked at. */
const SCANS_MAX = 5_000;
/** Reading so many scans takes longer than the pages of it, and pages are read again and again. */
const REMEMBERED_MS = 15_000;

/** Operations about the work of the fleet by organization. */
export function workRoutes({ readOrganizations, scans }: WorkParts): Route<Caller>[] {
  const usesOf = rememberBriefly(
    async () => exitUses(await scans.usedExits(new Date(Date.now() - HOUR_MS), SCANS_MAX)),
    REMEMBERED_MS,
  );
  return [
    route({
      ...reading,
      path: '/api/v1/fleet/queue',
      summary: 'Queue by organization',
      description:
        'Organizations that have waiting jobs, those with most first, and of those with `concurrent_leases` also the ones that only have leased jobs.',
      errors: ['unavailable'],
      replies: {
        200: { description: 'A page of organizations.', schema: pageSchema(OrganizationQueueSchema) },
      },
      handle: async ({ query }) => {
        const found = await readOrganizations().catch(queueUnavailable);
        const { skip, limit } = rowsOf(query);
        return ok(presentPage(found.slice(skip, skip + limit).map(presentDepth), found.length, query));
      },
    }),
    route({
      ...reading,
      path: '/api/v1/fleet/exits',
      operationId: 'listUsedExits',
      summary: 'Exits in use',
      description: `Which exits the scans of each organization used that ended in the last hour, the newest ${SCANS_MAX.toLocaleString('en')} of them, with what the last scan saw of the exit. Up to ${REMEMBERED_MS / 1000} seconds old.`,
      replies: { 200: { description: 'A page of uses, the most used first.', schema: pageSchema(ExitUseSchema) } },
      handle: async ({ query }) => {
        const uses = await usesOf('');
        const { skip, limit } = rowsOf(query);
        return ok(presentPage(uses.slice(skip, skip + limit).map(presentUse), uses.length, query));
      },
    }),
  ];
}

const presentDepth = ({
  organizationId,
  waiting,
  leased,
  cap,
}: OrganizationDepth): Static<typeof OrganizationQueueSchema> => ({
  organization_id: organizationId,
  waiting_interactive: waiting[0],
  waiting_bulk: waiting[1],
  waiting_campaign: waiting[2],
  leased,
  concurrent_leases: cap,
});

function presentUse({ exit, completed_at, organization_id, country_code, ...counts }: ExitUse) {
  const { provider, exit_id, proxy_type, region, city, isp, verified = null, ip, observed_country_code, asn } = exit;
  const seen = { provider, exit_id, country_code, proxy_type, region, city, isp, verified, ip };
  return {
    organization_id,
    ...seen,
    observed_country_code,
    asn,
    ...counts,
    last_used_at: completed_at.toISOString(),
  } satisfies Static<typeof ExitUseSchema>;
}
