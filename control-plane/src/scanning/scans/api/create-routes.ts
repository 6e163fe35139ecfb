import type { IncomingHttpHeaders } from 'node:http';
import { newId } from '@adsweep/shared/ids.ts';
import { carried, inTrace, SpanKind } from '@adsweep/shared/tracing/spans.ts';
import { readTraceparent } from '@adsweep/shared/tracing/traceparent.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, type TObject, Type } from 'typebox';
import type { StoredPerDay } from '../../../accounts/stored-per-day.ts';
import type { Caller } from '../../../http/caller.ts';
import { created, ok, type Route, route, type ValidPart } from '../../../http/route.ts';
import type { PublicUrls } from '../../../scan/scan-links.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';
import type { SentCountries } from '../request/checks/check.ts';
import type { ScanCreation, ScanOrder } from '../request/create-scans.ts';
import type { Estimate } from '../request/estimate.ts';
import type { CampaignWordsOf } from '../request/find-campaign.ts';
import type { RequestedScans } from '../request/new-scan.ts';
import { type BulkScanIn, BulkScanInSchema, type ScanIn, ScanInSchema } from '../request/scan-in.ts';
import { presentCreated } from './present-scan.ts';
import { EstimateSchema, ScanSchema } from './responses.ts';

/** The dependencies of the operations that create scans. */
export type CreateRouteParts = {
  creation: Pick<ScanCreation, 'findIssues' | 'certainOf' | 'createChecked' | 'estimateScans'>;
  scans: Pick<ScanStore, 'withTarget'>;
  campaignWordsOf: CampaignWordsOf;
  urls: PublicUrls;
  storedPerDay: Pick<StoredPerDay, 'storing' | 'requireLeft'>;
};

const shared = { method: 'POST', group: 'Scans', permission: 'scans.write' } as const;

const CreateQuery = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Validates the request and estimates its cost; nothing is written.',
      }),
    ),
  },
  { additionalProperties: false },
);

const ERRORS = [
  'scanning.unsupported_country_code',
  'scanning.unknown_emulator_id',
  'scanning.unsupported_proxy_region',
  'scanning.unsupported_proxy_city',
  'scanning.unsupported_proxy_isp',
  'campaigns.archived',
  'runs.cancelled',
  'billing.suspended',
  'billing.quota_exhausted',
  'billing.insufficient_funds',
  'catalogue.not_ready',
  'storage.full',
  'storage.quota_exhausted',
] as const;

/** The estimate of an order, of which nothing is stored. Throws as creating its scans would. */
async function estimateFor({ creation, storedPerDay }: CreateRouteParts, order: ScanOrder): Promise<Estimate> {
  await storedPerDay.requireLeft(order.organizationId, 'targets', targetBytes(order));
  return creation.estimateScans(order);
}

/** An address of a tag is short, and a page's URL is a part of its scan. */
const targetBytes = ({ settings: { ad_tag, vast_tag } }: ScanOrder): number =>
  Buffer.byteLength(ad_tag ?? vast_tag ?? '');

const ESTIMATED = { description: 'The estimate (`dry_run=true`).', schema: EstimateSchema };

/** Operations that create scans (spec 4.2). */
export const createRoutes = (parts: CreateRouteParts): Route<Caller>[] => [createRoute(parts), bulkRoute(parts)];

function createRoute(parts: CreateRouteParts): Route<Caller> {
  return route<Caller, TObject, typeof CreateQuery, typeof ScanInSchema>({
    ...shared,
    path: '/api/v1/scans',
    summary: 'Create a scan',
    description:
      'Exactly one of `url`, `ad_tag` and `vast_tag`. The request is validated in full, and the scan is charged and queued; it is crawled later. With a `repeat_count` above 1, this number of scans is created: the response is the first of them and names the others. With `repeat_mode: shared` they run one after the other in one browser and see what the earlier ones stored. With `ad_discovery: true`, the page is swept for ads: each of the first `max_discovered_ads` becomes a scan of its own, charged when it is found and listed by `GET /scans/{id}/children`.',
    query: CreateQuery,
    body: ScanInSchema,
    replies: {
      200: ESTIMATED,
      201: { description: 'The scan, `pending`; `cancelled` if its run was cancelled meanwhile.', schema: ScanSchema },
    },
    errors: ERRORS,
    runsOnce: ({ query }) => query.dry_run !== true,
    refine: (request) => requestIssues(request, { field: 'country_code', value: request.body.country_code }, parts),
    handle: async ({ caller, body, query, headers, recordId }) => {
      const { country_code, ...settings } = body satisfies ScanIn;
      const requested = { settings, countries: [country_code.toUpperCase()] };
      const order = orderOf(caller, requested, recordId);
      if (query.dry_run) return ok(await estimateFor(parts, order));
      const [answered] = await createGroups(parts, order, { path: '/api/v1/scans', headers });
      return created(answered);
    },
  });
}

function bulkRoute(parts: CreateRouteParts): Route<Caller> {
  return route<Caller, TObject, typeof CreateQuery, typeof BulkScanInSchema>({
    ...shared,
    path: '/api/v1/scans/bulk',
    summary: 'Create scans in several countries',
    description:
      'As `POST /scans`, with `country_codes` instead of `country_code`: a scan in each country, or a group of repeats. If it is refused for one country, no scan is created. If the response is lost, send the request again with the same `Idempotency-Key`: it creates the missing scans, and none twice.',
    query: CreateQuery,
    body: BulkScanInSchema,
    replies: {
      200: ESTIMATED,
      201: { description: 'The scan of each country, or the first one of its group.', schema: Type.Array(ScanSchema) },
    },
    errors: ERRORS,
    runsOnce: ({ query }) => query.dry_run !== true,
    refine: (request) => requestIssues(request, { field: 'country_codes', value: request.body.country_codes }, parts),
    handle: async ({ caller, body, query, headers, recordId }) => {
      const { country_codes, ...settings } = body satisfies BulkScanIn;
      const requested = { settings, countries: country_codes.map((code) => code.toUpperCase()) };
      const order = orderOf(caller, requested, recordId);
      if (query.dry_run) return ok(await estimateFor(parts, order));
      return created(await createGroups(parts, order, { path: '/api/v1/scans/bulk', headers }));
    },
  });
}

/** With a `recordId`, the request may be repeated. */
function orderOf({ organizationId }: Caller, requested: RequestedScans, recordId: string | undefined): ScanOrder {
  return { ...requested, organizationId, requestId: recordId ?? newId(), isRepeatable: recordId !== undefined };
}

/** Creates the scans, in the trace of the request, and presents the leader of each group. */
async function createGroups(
  { creation, scans, campaignWordsOf, urls, storedPerDay }: CreateRouteParts,
  order: ScanOrder,
  { path, headers }: { path: string; headers: IncomingHttpHeaders },
) {
  const attributes = { 'http.request.method': 'POST', 'http.route': path };
  const { groups } = await inTrace(
    `POST ${path}`,
    readTraceparent(headers.traceparent),
    { kind: SpanKind.SERVER, attributes },
    ({ traceparent }) =>
      storedPerDay.storing(order.organizationId, 'targets', targetBytes(order), () =>
        creation.createChecked({ ...order, ...carried(traceparent) }),
      ),
  );
  const { campaign_id } = order.settings;
  const words = await campaignWordsOf(order.organizationId, campaign_id ? [campaign_id] : []);
  const campaign = words.get(campaign_id ?? '') ?? null;
  const answers = groups.map(async (group) => presentCreated(await scans.withTarget(group[0]!), group, urls, campaign));
  return Promise.all(answers);
}

type SentRequest = Partial<Static<typeof ScanInSchema>> | Partial<Static<typeof BulkScanInSchema>>;

async function requestIssues(
  { caller: { organizationId }, body: scan, refused }: ValidPart<Caller, SentRequest>,
  sentCountries: SentCountries,
  { creation }: CreateRouteParts,
): Promise<Issue[]> {
  if (!refused) return [];
  const countries = countriesIn(sentCountries);
  return creation.certainOf(await creation.findIssues({ organizationId, scan, refused, sentCountries, countries }));
}

/** The countries that were sent as text, in upper case. */
function countriesIn({ value }: SentCountries): string[] {
  const sent = Array.isArray(value) ? (value as unknown[]) : [value];
  return sent.filter((one) => typeof one === 'string').map((code) => code.toUpperCase());
}
