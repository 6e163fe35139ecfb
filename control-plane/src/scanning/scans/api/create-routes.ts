import { newId } from '@adsweep/shared/ids.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, type TObject, Type } from 'typebox';
import type { Caller } from '../../../http/caller.ts';
import { created, ok, type Route, route, type ValidPart } from '../../../http/route.ts';
import type { ReadCatalogue } from '../../../reference/catalogue/lookup.ts';
import { catalogueNotReady } from '../../../reference/catalogue/lookup.ts';
import type { ScanRecord } from '../../../scan/scan.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';
import type { SentCountries } from '../request/checks/check.ts';
import { checkRequest } from '../request/checks/index.ts';
import { type Estimate, estimate } from '../request/estimate.ts';
import type { FindCampaign } from '../request/find-campaign.ts';
import { newScans, type RequestedScans, scanIdsOf } from '../request/new-scan.ts';
import { type BulkScanIn, BulkScanInSchema, type ScanIn, ScanInSchema } from '../request/scan-in.ts';
import { type Submission, type Submit, type SubmitParts, submitTogether } from '../request/submit.ts';
import { presentCreated } from './present-scan.ts';
import { EstimateSchema, type PresentedScan, ScanSchema } from './responses.ts';

/** What creating scans needs; `submitted` counts, `outboxFilled` says that there is something to carry out. */
export type CreateParts = SubmitParts & {
  scans: Pick<ScanStore, 'withTarget'>;
  readCatalogue: ReadCatalogue;
  findCampaign: FindCampaign;
  /** The addresses that targets and referrers may have. */
  addresses: AddressPolicy;
  publicUrl: string;
  /** What a check costs the organization, in micros; throws where it may create none. */
  priceOfCheck: (organizationId: string) => Promise<number>;
  /** Throws where the organization may not make as many checks at this price. */
  requireAllowed: (organizationId: string, checks: number, priceMicros: number, now: Date) => Promise<void>;
};

type RouteParts = CreateParts & { submit: Submit };

const shared = { method: 'POST', group: 'Scans', permission: 'scans.write' } as const;

const CreateQuery = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({ default: false, description: 'All checks, and what it would cost; nothing is written.' }),
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
  'billing.suspended',
  'billing.quota_exhausted',
  'billing.insufficient_funds',
  'catalogue.not_ready',
  'storage.full',
] as const;

const ESTIMATED = { description: 'What it would do (`dry_run=true`).', schema: EstimateSchema };

/** Operations that create scans (spec 4.2). */
export function createRoutes(parts: CreateParts): Route<Caller>[] {
  const withSubmit = { ...parts, submit: submitTogether(parts) };
  return [createRoute(withSubmit), bulkRoute(withSubmit)];
}

function createRoute(parts: RouteParts): Route<Caller> {
  return route<Caller, TObject, typeof CreateQuery, typeof ScanInSchema>({
    ...shared,
    path: '/api/v1/scans',
    summary: 'Create a scan',
    description:
      'Exactly one of `url`, `ad_tag` and `vast_tag`. The scan is checked in full, charged and queued; it is crawled later. With `repeat_count` above 1 as many scans are made: the answer is the first of them, and names the others. With `repeat_mode: shared` they run one after the other in one browser and see what the earlier ones stored. This version crawls page URLs, ad tags and VAST tags: `ad_discovery` is refused with the type `not_available`.',
    query: CreateQuery,
    body: ScanInSchema,
    replies: { 200: ESTIMATED, 201: { description: 'The scan, `pending`.', schema: ScanSchema } },
    errors: ERRORS,
    runsOnce: ({ query }) => query.dry_run !== true,
    refine: (request) => requestIssues(request, { field: 'country_code', value: request.body.country_code }, parts),
    handle: async ({ caller, body, query, recordId }) => {
      const { country_code, ...settings } = body satisfies ScanIn;
      const requested = { settings, countries: [country_code.toUpperCase()] };
      const prepared = await prepare(parts, caller, requested, recordId);
      if (query.dry_run) return ok(await estimated(parts, prepared));
      const [answered] = await createGroups(parts, prepared);
      return created(answered);
    },
  });
}

function bulkRoute(parts: RouteParts): Route<Caller> {
  return route<Caller, TObject, typeof CreateQuery, typeof BulkScanInSchema>({
    ...shared,
    path: '/api/v1/scans/bulk',
    summary: 'Create scans in several countries',
    description:
      'As `POST /scans`, with `country_codes` instead of `country_code`: a scan in each country, or a group of repeats. What is refused in one country is refused before any scan is made. Where the answer does not arrive, send the request again with the same `Idempotency-Key`: it makes what is missing and nothing twice.',
    query: CreateQuery,
    body: BulkScanInSchema,
    replies: {
      200: ESTIMATED,
      201: { description: 'The scan of each country, or the first one of its group.', schema: Type.Array(ScanSchema) },
    },
    errors: ERRORS,
    runsOnce: ({ query }) => query.dry_run !== true,
    refine: (request) => requestIssues(request, { field: 'country_codes', value: request.body.country_codes }, parts),
    handle: async ({ caller, body, query, recordId }) => {
      const { country_codes, ...settings } = body satisfies BulkScanIn;
      const requested = { settings, countries: country_codes.map((code) => code.toUpperCase()) };
      const prepared = await prepare(parts, caller, requested, recordId);
      if (query.dry_run) return ok(await estimated(parts, prepared));
      return created(await createGroups(parts, prepared));
    },
  });
}

type Prepared = { groups: ScanRecord[][]; catalogue: Catalogue; request: Submission['request'] };

/**
 * The scans that a request asks for, none of which is written yet, and the catalogue they were made with. `recordId`: the request may be sent again.
 */
async function prepare(
  { readCatalogue, priceOfCheck }: CreateParts,
  { organizationId }: Caller,
  requested: RequestedScans,
  recordId: string | undefined,
): Promise<Prepared> {
  const [catalogue, requestId] = [readNow(readCatalogue), recordId ?? newId()];
  const options = { organizationId, priceMicros: await priceOfCheck(organizationId), requestId };
  const request = { id: requestId, ...scanIdsOf(requested, requestId), isRepeatable: recordId !== undefined };
  return { groups: newScans(requested, catalogue, options, new Date()), catalogue, request };
}

/** What creating the scans would do; throws where it would be refused. */
async function estimated({ requireAllowed }: CreateParts, { groups, catalogue }: Prepared): Promise<Estimate> {
  const scans = groups.flat();
  const [{ organization_id, price_micros, created_at }] = scans as [ScanRecord];
  await requireAllowed(organization_id, scans.length, price_micros, created_at);
  return estimate(groups, catalogue);
}

/** Stores the groups and answers the leader of each. */
async function createGroups(parts: RouteParts, { groups, request }: Prepared): Promise<PresentedScan[]> {
  const submitted = await parts.submit({ scans: groups.flat(), request });
  const stored = new Map(submitted.map((scan) => [scan._id, scan]));
  const answers = groups.map(async (group) => {
    const leader = await parts.scans.withTarget(stored.get(group[0]!._id)!);
    return presentCreated(leader, group, parts.publicUrl);
  });
  return Promise.all(answers);
}

type SentRequest = Partial<Static<typeof ScanInSchema>> | Partial<Static<typeof BulkScanInSchema>>;

async function requestIssues(
  { caller, body, refused }: ValidPart<Caller, SentRequest>,
  sentCountries: SentCountries,
  { readCatalogue, addresses, findCampaign }: CreateParts,
): Promise<Issue[]> {
  if (!refused) return [];
  const catalogue = readNow(readCatalogue);
  const countries = countriesIn(sentCountries);
  const campaign = await findCampaign(caller.organizationId, body.campaign_id ?? null, body.run_id ?? null);
  return checkRequest({ scan: body, refused, sentCountries, countries, campaign, catalogue, addresses });
}

/** The countries that were sent, in upper case; those whose form was wrong are missing. */
function countriesIn({ value }: SentCountries): string[] {
  const sent = Array.isArray(value) ? (value as unknown[]) : [value];
  return sent.filter((one) => typeof one === 'string').map((code) => code.toUpperCase());
}

function readNow(readCatalogue: ReadCatalogue): Catalogue {
  const catalogue = readCatalogue();
  if (!catalogue) throw catalogueNotReady();
  return catalogue;
}
