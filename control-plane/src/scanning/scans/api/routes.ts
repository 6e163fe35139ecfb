import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { type TObject, Type } from 'typebox';
import { notFound } from '../../../http/api-error.ts';
import type { Caller } from '../../../http/caller.ts';
import type { Issue } from '../../../http/errors.ts';
import type { IdempotencyStore } from '../../../http/idempotency-store.ts';
import { idempotent } from '../../../http/idempotent.ts';
import { orNull } from '../../../http/or-null.ts';
import { pageSchema, presentPage, rowsOf } from '../../../http/page.ts';
import { decodeCursor, encodeCursor } from '../../../http/page-cursor.ts';
import { created, ok, type Route, route, type ValidPart } from '../../../http/route.ts';
import type { ReadCatalogue } from '../../../reference/catalogue/lookup.ts';
import { catalogueNotReady } from '../../../reference/catalogue/not-ready.ts';
import { checkRequest } from '../request/checks/index.ts';
import { estimate } from '../request/estimate.ts';
import { newScan } from '../request/new-scan.ts';
import { type ScanIn, ScanInSchema } from '../request/scan-in.ts';
import { type Enqueue, submit } from '../request/submit.ts';
import { cancelScan } from '../state/cancel.ts';
import type { ScanRecord } from '../state/scan.ts';
import type { ScanStore } from '../state/scan-store.ts';
import type { EvidenceLanding } from './evidence-landing.ts';
import { listQueryIssues, listQuestion, ScanListQuerySchema } from './list-query.ts';
import { presentBrief, presentScan } from './present-scan.ts';
import { type FindTagWords, presentTag } from './present-tag.ts';
import { CancelledSchema, EstimateSchema, ScanBriefSchema, ScanSchema, ScanTagSchema } from './responses.ts';

/** What the operations on scans need; `readEvidence` answers the landings of its capture, none before there is one; `submitted` counts;
 * `outboxFilled` says that there is something to carry out. */
export type ScanParts = {
  scans: ScanStore;
  idempotency: IdempotencyStore;
  readCatalogue: ReadCatalogue;
  /** The addresses that targets and referrers may have. */
  addresses: AddressPolicy;
  enqueue: Enqueue;
  unqueue: (scan: ScanRecord) => Promise<void>;
  readEvidence: (scan: ScanRecord) => Promise<EvidenceLanding[]>;
  tagWords: FindTagWords;
  submitted: () => void;
  outboxFilled: () => void;
  publicUrl: string;
  /** What a check costs the organization, in micros; throws where it may create none. */
  priceOfCheck: (organizationId: string) => Promise<number>;
  log: Logger;
};

const ScanPath = Type.Object({ id: Type.String({ description: 'The scan.' }) });
const group = 'Scans';

/** Operations on scans (spec 4.2). */
export function scanRoutes(parts: ScanParts): Route<Caller>[] {
  return [listRoute(parts), createRoute(parts), readRoute(parts), tagsRoute(parts), cancelRoute(parts)];
}

function listRoute({ scans, publicUrl }: ScanParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/scans',
    group,
    summary: 'List scans',
    description: 'Newest first. `label_<key>=<value>` filters by a label. Filters are joined by "and".',
    permission: 'scans.read',
    query: ScanListQuerySchema,
    replies: { 200: { description: 'A page of scans.', schema: ScanPageSchema } },
    refine: ({ query }) => listQueryIssues(query),
    handle: async ({ caller, query }) => {
      const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
      const window = { ...rowsOf(query), after };
      const { rows, total, last } = await scans.list(caller.organizationId, listQuestion(query), window);
      const items = rows.map((scan) => presentBrief(scan, publicUrl));
      return ok({ ...presentPage(items, total, query), next_cursor: last && encodeCursor(last) });
    },
  });
}

/** A page, and where the next one begins. */
const ScanPageSchema = Type.Object({
  ...pageSchema(ScanBriefSchema).properties,
  next_cursor: orNull(Type.String({ description: 'For `cursor`: the page after this one; null on the last one.' })),
});

const CreateQuery = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({ default: false, description: 'All checks, and what it would cost; nothing is written.' }),
    ),
  },
  { additionalProperties: false },
);

function createRoute(parts: ScanParts): Route<Caller> {
  const { readCatalogue, publicUrl, priceOfCheck, idempotency } = parts;
  const create = route<Caller, TObject, typeof CreateQuery, typeof ScanInSchema>({
    method: 'POST',
    path: '/api/v1/scans',
    group,
    summary: 'Create a scan',
    description:
      'Exactly one of `url`, `ad_tag` and `vast_tag`. The scan is checked in full, charged and queued; it is crawled later. This version crawls single page URLs: `ad_tag`, `vast_tag`, `ad_discovery` and `repeat_count` above 1 are refused with the type `not_available`.',
    permission: 'scans.write',
    query: CreateQuery,
    body: ScanInSchema,
    replies: {
      200: { description: 'What it would do (`dry_run=true`).', schema: EstimateSchema },
      201: { description: 'The scan, `pending`.', schema: ScanSchema },
    },
    errors: [...VOCABULARY_ERRORS, 'billing.suspended', 'catalogue.not_ready', 'storage.full'],
    refine: (request) => requestIssues(request, parts),
    handle: async ({ caller, body, query, recordId }) => {
      const catalogue = readCatalogue();
      if (!catalogue) throw catalogueNotReady();
      const { organizationId } = caller;
      const options = { organizationId, priceMicros: await priceOfCheck(organizationId), scanId: recordId };
      if (query.dry_run) return ok(estimate(newScan(body, catalogue, options, new Date()), catalogue));
      const scan = await submit(parts, body, catalogue, options, new Date());
      return created(presentScan(await parts.scans.withTarget(scan), [], publicUrl));
    },
  });
  return idempotent(idempotency, create, ({ query }) => (query as { dry_run?: boolean }).dry_run !== true);
}

const VOCABULARY_ERRORS = [
  'scanning.unsupported_country_code',
  'scanning.unknown_emulator_id',
  'scanning.unsupported_proxy_region',
  'scanning.unsupported_proxy_city',
  'scanning.unsupported_proxy_isp',
] as const;

function requestIssues(
  { body, refused }: ValidPart<Caller, Partial<ScanIn>>,
  { readCatalogue, addresses }: ScanParts,
): Issue[] {
  if (!refused) return [];
  const catalogue = readCatalogue();
  if (!catalogue) throw catalogueNotReady();
  const countries = body.country_code === undefined ? [] : [body.country_code.toUpperCase()];
  return checkRequest({ scan: body, refused, countries, catalogue, addresses });
}

function readRoute({ scans, readEvidence, publicUrl }: ScanParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/scans/{id}',
    group,
    summary: 'Read a scan',
    permission: 'scans.read',
    params: ScanPath,
    replies: { 200: { description: 'The scan.', schema: ScanSchema } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const scan = await findScan(scans, caller, params.id);
      const [whole, evidence] = await Promise.all([scans.withTarget(scan), readEvidence(scan)]);
      return ok(presentScan(whole, evidence, publicUrl));
    },
  });
}

function tagsRoute({ scans, tagWords }: ScanParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/scans/{id}/tags',
    group,
    summary: 'Tags of a scan',
    permission: 'scans.read',
    params: ScanPath,
    replies: { 200: { description: 'What was found.', schema: Type.Array(ScanTagSchema) } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const scan = await findScan(scans, caller, params.id);
      return ok(scan.tags.flatMap((tag) => presentTag(scan, tag, tagWords)));
    },
  });
}

function cancelRoute(parts: ScanParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/scans/{id}/cancel',
    group,
    summary: 'Cancel a pending scan',
    description: 'Gives back its charge. A scan that is not pending is left as it is.',
    permission: 'scans.write',
    params: ScanPath,
    replies: { 200: { description: 'How many scans were cancelled.', schema: CancelledSchema } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const scan = await findScan(parts.scans, caller, params.id);
      const cancelled = await cancelScan(parts, scan, new Date());
      return ok({ cancelled_count: cancelled ? 1 : 0 });
    },
  });
}

async function findScan(scans: ScanStore, caller: Caller, id: string): Promise<ScanRecord> {
  const scan = await scans.find(caller.organizationId, id);
  if (!scan) throw notFound('scan');
  return scan;
}
