import { pause } from '@adsweep/shared/service/time-slice.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../../http/api-error.ts';
import { type Caller, isOperator } from '../../../http/caller.ts';
import {
  afterOf,
  type CursorPosition,
  type CursorQuery,
  cursorIssues,
  cursorPageSchema,
  cursorQuery,
  nextCursor,
  type PageQuery,
  pageQuery,
  presentPage,
  rowsOf,
} from '../../../http/page.ts';
import { ok, type Route, route } from '../../../http/route.ts';
import { hasAds } from '../../../scan/advance.ts';
import { type CancelParts, cancelScan } from '../../../scan/cancel.ts';
import type { ListedScan, ScanRecord } from '../../../scan/scan.ts';
import type { ListQuestion } from '../../../scan/scan-list-store.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';
import { wordsOfCampaign } from '../request/find-campaign.ts';
import { type CreateRouteParts, createRoutes } from './create-routes.ts';
import { type EventsParts, eventsRoute } from './events-route.ts';
import type { ScanEvidence } from './evidence.ts';
import { listOf, listQueryIssues, listQuestion, ScanListQuerySchema } from './list-query.ts';
import { presentBrief, presentScan } from './present-scan.ts';
import { type FindTagWords, presentTag } from './present-tag.ts';
import { type RecheckRouteParts, recheckOneRoute, recheckRoute } from './recheck-route.ts';
import { CancelledSchema, type PresentedBrief, ScanBriefSchema, ScanSchema, ScanTagSchema } from './responses.ts';
import { summaryRoute } from './summary-route.ts';

/**
 * The dependencies of the operations on scans; `readEvidence` returns the evidence in a scan's capture, empty before
 * there is one.
 */
export type ScanParts = CreateRouteParts &
  CancelParts &
  RecheckRouteParts &
  EventsParts & {
    scans: ScanStore;
    campaignsInGroup: (organizationId: string, groupId: string) => Promise<string[]>;
    readEvidence: (scan: ScanRecord) => Promise<ScanEvidence>;
    /** Finds the definitions of the tags that an organization can use. */
    tagWordsFor: (organizationId: string, slugs: string[], seesHidden: boolean) => Promise<FindTagWords>;
  };

const ScanPath = Type.Object({ id: Type.String({ description: 'The scan.' }) });
const group = 'Scans';

/** Operations on scans (spec 4.2). */
export function scanRoutes(parts: ScanParts): Route<Caller>[] {
  const create = createRoutes(parts);
  const readOne = [readRoute(parts), eventsRoute(parts), childrenRoute(parts), tagsRoute(parts)];
  const start = [listRoute(parts), summaryRoute(parts), ...create, recheckRoute(parts)];
  return [...start, ...readOne, cancelRoute(parts), recheckOneRoute(parts)];
}

function listRoute(parts: ScanParts): Route<Caller> {
  const path = '/api/v1/scans';
  return route({
    method: 'GET',
    path,
    group,
    summary: 'List scans',
    description: 'Newest first. `label_<key>=<value>` filters by a label. Filters are joined by "and".',
    permission: 'scans.read',
    query: ScanListQuerySchema,
    replies: { 200: { description: 'A page of scans.', schema: ScanPageSchema } },
    errors: ['scanning.search_timed_out'],
    refine: (request) => [...listQueryIssues(request.query), ...cursorIssues({ ...request, path })],
    handle: async ({ caller, params, query }) => {
      const { organizationId } = caller;
      const tagWords =
        query.tag === undefined ? null : await parts.tagWordsFor(organizationId, listOf(query.tag), isOperator(caller));
      const isInService = (slug: string) => tagWords?.(slug) !== null;
      const { group_id: groupId } = query;
      const campaigns = groupId === undefined ? null : await parts.campaignsInGroup(organizationId, groupId);
      const question = listQuestion(query, { isInService, campaigns });
      return ok(await readPage(parts, question, { caller, path, params, query }));
    },
  });
}

const ScanPageSchema = cursorPageSchema(ScanBriefSchema);
const PageOfScansQuery = Type.Object({ ...pageQuery, ...cursorQuery }, { additionalProperties: false });

type RowParts = Pick<ScanParts, 'scans' | 'campaignWordsOf' | 'tagWordsFor' | 'urls'>;

/** Scans as rows of a list, with the names of their campaigns and tags. */
async function presentRows({ campaignWordsOf, tagWordsFor, urls }: RowParts, caller: Caller, rows: ListedScan[]) {
  const { organizationId } = caller;
  const ids = new Set(rows.flatMap(({ campaign_id }) => campaign_id ?? []));
  const slugs = new Set(rows.flatMap(({ tags }) => tags.map(({ tag_slug }) => tag_slug)));
  const [words, tagWords] = await Promise.all([
    campaignWordsOf(organizationId, [...ids]),
    slugs.size === 0 ? () => null : tagWordsFor(organizationId, [...slugs], isOperator(caller)),
  ]);
  const presented: PresentedBrief[] = [];
  for (const scan of rows) {
    await pause();
    presented.push(presentBrief(scan, urls, words.get(scan.campaign_id ?? '') ?? null, tagWords));
  }
  return presented;
}

/** A request for a page of scans. */
type RequestOfScans = { caller: Caller; path: string; params: unknown; query: PageQuery & CursorQuery };

async function readPage(parts: RowParts, question: ListQuestion, request: RequestOfScans) {
  const { caller, query } = request;
  const window = { ...rowsOf(query), after: afterOf(query) };
  const { rows, total, last } = await parts.scans.list(caller.organizationId, question, window);
  const items = await presentRows(parts, caller, rows);
  return { ...presentPage(items, total, query), next_cursor: nextCursor(last, request) };
}

function readRoute({ scans, readEvidence, campaignWordsOf, urls }: ScanParts): Route<Caller> {
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
      const { organization_id, campaign_id } = scan;
      const [whole, evidence, campaign] = await Promise.all([
        scans.withTarget(scan),
        readEvidence(scan),
        wordsOfCampaign(campaignWordsOf, organization_id, campaign_id),
      ]);
      return ok(presentScan(whole, evidence, urls, campaign));
    },
  });
}

function childrenRoute(parts: ScanParts): Route<Caller> {
  const path = '/api/v1/scans/{id}/children';
  return route({
    method: 'GET',
    path,
    group,
    summary: 'Scans of the ads that a sweep found',
    description: 'Each ad is a scan of its own, which is listed as soon as it is found. In the order of `slot_index`.',
    permission: 'scans.read',
    params: ScanPath,
    query: PageOfScansQuery,
    replies: { 200: { description: 'A page of scans.', schema: ScanPageSchema } },
    errors: ['not_found'],
    refine: (request) => cursorIssues({ ...request, path }),
    handle: async ({ caller, params, query }) => {
      // The scan itself, which can be large, is not read.
      if ((await parts.scans.countOf(caller.organizationId, [params.id])) === 0) throw notFound('scan');
      const children = await parts.scans.childrenOf(caller.organizationId, params.id);
      return ok(await pageOfChildren(parts, children, { caller, path, params, query }));
    },
  });
}

/**
 * The place of an ad in the list of its sweep: by `slot_index`, which takes the place of a time in its cursors, and id.
 */
const placeOf = ({ _id: id, ad_block }: ListedScan): CursorPosition => ({
  at: new Date(ad_block?.slot_index ?? 0),
  id,
});

const isBehind = (one: CursorPosition, other: CursorPosition): boolean =>
  one.at > other.at || (one.at.getTime() === other.at.getTime() && one.id > other.id);

/**
 * A page of a sweep's ads, which are few. The row of a cursor may have been removed meanwhile, or have another place
 * when the page was swept again.
 */
async function pageOfChildren(parts: RowParts, children: ListedScan[], request: RequestOfScans) {
  const { caller, query } = request;
  const { skip, limit } = rowsOf(query);
  const after = afterOf(query);
  const at = children.findIndex(({ _id }) => _id === after?.id);
  const isNext = (child: ListedScan, index: number) => (at === -1 ? isBehind(placeOf(child), after!) : index > at);
  const next = after ? children.findIndex(isNext) : skip;
  const from = next === -1 ? children.length : next;
  const rows = children.slice(from, from + limit);
  const last = from + limit < children.length ? rows.at(-1) : undefined;
  const items = await presentRows(parts, caller, rows);
  const next_cursor = nextCursor(last && placeOf(last), request);
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
      const tagWords = await tagWordsFor(caller.organizationId, slugs, isOperator(caller));
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
