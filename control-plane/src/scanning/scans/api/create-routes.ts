import type { IncomingHttpHeaders } from 'node:http';
import { newId } from '@adsweep/shared/ids.ts';
import { carried, inTrace, SpanKind } from '@adsweep/shared/tracing/spans.ts';
import { readTraceparent } from '@adsweep/shared/tracing/traceparent.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, type TObject, Type } from 'typebox';
import type { StoredPerDay } from '../../../accounts/stored-per-day.ts';
import type { Caller } from '../../../http/caller.ts';
import { type Answer, created, type Incoming, ok, type Route, route, type ValidPart } from '../../../http/route.ts';
import type { PublicUrls } from '../../../scan/scan-links.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';
import type { SentCountries } from '../request/checks/check.ts';
import { BILLING_ERRORS, CHECK_ERRORS, type ScanCreation, type ScanOrder } from '../request/create-scans.ts';
import { type CampaignWordsOf, wordsOfCampaign } from '../request/find-campaign.ts';
import type { RequestedScans } from '../request/new-scan.ts';
import { BulkScanInSchema, ScanInSchema } from '../request/scan-in.ts';
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
  ...CHECK_ERRORS,
  'campaigns.archived',
  'runs.cancelled',
  ...BILLING_ERRORS,
  'catalogue.not_ready',
  'storage.full',
  'storage.quota_exhausted',
] as const;

/** An address of a tag is short, and a page's URL is a part of its scan. */
const targetBytes = ({ settings: { ad_tag, vast_tag } }: ScanOrder): number =>
  Buffer.byteLength(ad_tag ?? vast_tag ?? '');

const ESTIMATED = { description: 'The estimate (`dry_run=true`).', schema: EstimateSchema };

const shared = {
  method: 'POST',
  group: 'Scans',
  permission: 'scans.write',
  query: CreateQuery,
  errors: ERRORS,
  runsOnce: ({ query }: Pick<CreateRequest, 'query'>) => query.dry_run !== true,
} as const;

/** Operations that create scans (spec 4.2). */
export const createRoutes = (parts: CreateRouteParts): Route<Caller>[] => [createRoute(parts), bulkRoute(parts)];

function createRoute(parts: CreateRouteParts): Route<Caller> {
  return route<Caller, TObject, typeof CreateQuery, typeof ScanInSchema>({
    ...shared,
    path: '/api/v1/scans',
    summary: 'Create a scan',
    description:
      'Exactly one of `url`, `ad_tag` and `vast_tag`. The request is validated in full, and the scan is charged and queued; it is crawled later. With a `repeat_count` above 1, this number of scans is created: the response is the first of them and names the others. With `repeat_mode: shared` they run one after the other in one browser and see what the earlier ones stored. With `ad_discovery: true`, the page is swept for ads: each of the first `max_discovered_ads` becomes a scan of its own, charged when it is found and listed by `GET /scans/{id}/children`.',
    body: ScanInSchema,
    replies: {
      200: ESTIMATED,
      201: { description: 'The scan, `pending`; `cancelled` if its run was cancelled meanwhile.', schema: ScanSchema },
    },
    refine: (request) => requestIssues(request, { field: 'country_code', value: request.body.country_code }, parts),
    handle: ({ body: { country_code, ...settings }, ...request }) => {
      const requested = { settings, countries: [country_code.toUpperCase()] };
      return answerOrder(parts, requested, request, '/api/v1/scans', ([leader]) => leader);
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
    body: BulkScanInSchema,
    replies: {
      200: ESTIMATED,
      201: { description: 'The scan of each country, or the first one of its group.', schema: Type.Array(ScanSchema) },
    },
    refine: (request) => requestIssues(request, { field: 'country_codes', value: request.body.country_codes }, parts),
    handle: ({ body: { country_codes, ...settings }, ...request }) => {
      const requested = { settings, countries: country_codes.map((code) => code.toUpperCase()) };
      return answerOrder(parts, requested, request, '/api/v1/scans/bulk', (leaders) => leaders);
    },
  });
}

type CreateRequest = Pick<
  Incoming<Caller, unknown, Static<typeof CreateQuery>>,
  'caller' | 'query' | 'headers' | 'recordId'
>;

/**
 * Creates the scans of a request, or estimates what that would cost. `shown`: what is shown of the leaders of the
 * groups.
 */
async function answerOrder(
  parts: CreateRouteParts,
  requested: RequestedScans,
  { caller: { organizationId }, query, headers, recordId }: CreateRequest,
  path: string,
  shown: (leaders: unknown[]) => unknown,
): Promise<Answer> {
  // With a `recordId`, the request may be repeated.
  const requestId = recordId ?? newId();
  const order = { ...requested, organizationId, requestId, isRepeatable: recordId !== undefined };
  if (!query.dry_run) return created(shown(await createGroups(parts, order, { path, headers })));
  await parts.storedPerDay.requireLeft(organizationId, 'targets', targetBytes(order));
  return ok(await parts.creation.estimateScans(order));
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
  const campaign = await wordsOfCampaign(campaignWordsOf, order.organizationId, order.settings.campaign_id);
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
