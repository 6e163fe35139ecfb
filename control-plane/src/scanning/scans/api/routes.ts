import { Type } from 'typebox';
import { ApiError, notFound } from '../../../http/api-error.ts';
import type { Caller } from '../../../http/caller.ts';
import {
  CURSOR_DESCRIPTION,
  type CursorQuery,
  cursorIssues,
  decodeCursor,
  encodeCursor,
  type PageQuery,
  pageQuery,
  pageSchema,
  presentPage,
  rowsOf,
} from '../../../http/page.ts';
import { ok, orNull, type Route, route } from '../../../http/route.ts';
import { hasAds } from '../../../scan/advance.ts';
import { type CancelParts, cancelScan } from '../../../scan/cancel.ts';
import type { ListedScan, ScanRecord } from '../../../scan/scan.ts';
import type { ListQuestion } from '../../../scan/scan-list-store.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';
import { type CreateRouteParts, createRoutes } from './create-routes.ts';
import { type EventsParts, eventsRoute } from './events-route.ts';
import type { ScanEvidence } from './evidence.ts';
import { listOf, listQueryIssues, listQuestion, ScanListQuerySchema } from './list-query.ts';
import { presentBrief, presentScan } from './present-scan.ts';
import { type FindTagWords, presentTag } from './present-tag.ts';
import { type RecheckRouteParts, recheckRoute } from './recheck-route.ts';
import { CancelledSchema, ScanBriefSchema, ScanSchema, ScanTagSchema } from './responses.ts';

/** The dependencies of the operations on scans; `readEvidence` returns the evidence in a scan's capture, empty before there is one. */
export type ScanParts = CreateRouteParts &
  CancelParts &
  RecheckRouteParts &
  EventsParts & {
    scans: ScanStore;
    readEvidence: (scan: ScanRecord) => Promise<ScanEvidence>;
    /** Finds the definitions of the tags that an organization can use. */
    tagWordsFor: (organizationId: string, slugs: string[]) => Promise<FindTagWords>;
  };

const ScanPath = Type.Object({ id: Type.String({ description: 'The scan.' }) });
const group = 'Scans';

/** Operations on scans (spec 4.2). */
export function scanRoutes(parts: ScanParts): Route<Caller>[] {
  const create = createRoutes(parts);
  const readOne = [readRoute(parts), eventsRoute(parts), childrenRoute(parts), tagsRoute(parts)];
  return [listRoute(parts), ...create, recheckRoute(parts), ...readOne, cancelRoute(parts)];
}

function listRoute({ scans, publicUrl, tagWordsFor }: ScanParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/scans',
    group,
    summary: 'List scans',
    description: 'Newest first. `label_<key>=<value>` filters by a label. Filters are joined by "and".',
    permission: 'scans.read',
    query: ScanListQuerySchema,
    replies: { 200: { description: 'A page of scans.', schema: ScanPageSchema } },
    errors: ['scanning.search_timed_out'],
    refine: ({ query }) => listQueryIssues(query),
    handle: async ({ caller, query }) => {
      const { organizationId } = caller;
      const tagWords = query.tag === undefined ? null : await tagWordsFor(organizationId, listOf(query.tag));
      const question = listQuestion(query, (slug) => tagWords?.(slug) !== null);
      return ok(await readPage(scans, organizationId, question, query, publicUrl));
    },
  });
}

/** A page, and where the next one begins. */
const ScanPageSchema = Type.Object({
  ...pageSchema(ScanBriefSchema).properties,
  next_cursor: orNull(Type.String({ description: 'The `cursor` of the next page; null on the last one.' })),
});

const PageOfScansQuery = Type.Object(
  {
    ...pageQuery,
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, description: CURSOR_DESCRIPTION })),
  },
  { additionalProperties: false },
);

async function readPage(
  scans: Pick<ScanStore, 'list'>,
  organizationId: string,
  question: ListQuestion,
  query: PageQuery & CursorQuery,
  publicUrl: string,
) {
  const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
  const { rows, total, last } = await scans.list(organizationId, question, { ...rowsOf(query), after });
  const items = rows.map((scan) => presentBrief(scan, publicUrl));
  return { ...presentPage(items, total, query), next_cursor: last && encodeCursor(last) };
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

function childrenRoute({ scans, publicUrl }: ScanParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/scans/{id}/children',
    group,
    summary: 'Scans of the ads that a sweep found',
    description: 'Each ad is a scan of its own, which is listed as soon as it is found. In the order of `slot_index`.',
    permission: 'scans.read',
    params: ScanPath,
    query: PageOfScansQuery,
    replies: { 200: { description: 'A page of scans.', schema: ScanPageSchema } },
    errors: ['not_found'],
    refine: ({ query }) => cursorIssues(query),
    handle: async ({ caller, params, query }) => {
      const { _id } = await findScan(scans, caller, params.id);
      return ok(pageOfChildren(await scans.childrenOf(caller.organizationId, _id), query, publicUrl));
    },
  });
}

/** A page of a sweep's ads, which are few; none after a row that is no longer there. */
function pageOfChildren(children: ListedScan[], query: PageQuery & CursorQuery, publicUrl: string) {
  const { skip, limit } = rowsOf(query);
  const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
  const at = children.findIndex(({ _id }) => _id === after?.id);
  const from = after ? (at === -1 ? children.length : at + 1) : skip;
  const rows = children.slice(from, from + limit);
  const last = from + limit < children.length ? rows.at(-1) : undefined;
  const items = rows.map((scan) => presentBrief(scan, publicUrl));
  const next_cursor = last ? encodeCursor({ at: last.created_at, id: last._id }) : null;
  return { ...presentPage(items, children.length, query), next_cursor };
}

function tagsRoute({ scans, tagWordsFor }: ScanParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/scans/{id}/tags',
    group,
    summary: 'Tags of a scan',
    permission: 'scans.read',
    params: ScanPath,
    replies: { 200: { description: 'The tags.', schema: Type.Array(ScanTagSchema) } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const scan = await findScan(scans, caller, params.id);
      const slugs = [...new Set(scan.tags.map(({ tag_slug }) => tag_slug))];
      const tagWords = await tagWordsFor(caller.organizationId, slugs);
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
    description:
      'Refunds its charge. A scan that is not pending is left unchanged, and so are the other scans of its group. Neither the scan of a discovered ad nor a sweep that has found ads can be cancelled.',
    permission: 'scans.write',
    params: ScanPath,
    replies: { 200: { description: 'How many scans were cancelled.', schema: CancelledSchema } },
    errors: ['not_found', 'scanning.part_of_sweep'],
    handle: async ({ caller, params }) => {
      const scan = await findScan(parts.scans, caller, params.id);
      if (scan.status === 'pending' && hasAds(scan)) throw partOfSweep();
      const cancelled = await cancelScan(parts, scan, new Date());
      return ok({ cancelled_count: cancelled ? 1 : 0 });
    },
  });
}

const partOfSweep = () =>
  new ApiError('scanning.part_of_sweep', 'The ads of a sweep are charged when they are found and cannot be cancelled.');

async function findScan(scans: ScanStore, caller: Caller, id: string): Promise<ScanRecord> {
  const scan = await scans.find(caller.organizationId, id);
  if (!scan) throw notFound('scan');
  return scan;
}
