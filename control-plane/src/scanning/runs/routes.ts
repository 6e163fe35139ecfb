import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { type CursorPosition, type PageQuery, pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { resource } from '../../http/resource-routes.ts';
import { ok, type Route, route } from '../../http/route.ts';
import { type CancelParts, cancelScan } from '../../scan/cancel.ts';
import { filterKey } from '../../scan/filter-keys.ts';
import type { RunCounts } from '../../scan/run-counts.ts';
import type { ListedScan, ScanRecord } from '../../scan/scan.ts';
import { scanLinks } from '../../scan/scan-links.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { CampaignStore } from '../campaigns/campaign-store.ts';
import type { RunRecord } from './run.ts';
import type { RunStore } from './run-store.ts';

export type RunParts = CancelParts & {
  runs: RunStore;
  campaigns: Pick<CampaignStore, 'find'>;
  scans: Pick<ScanStore, 'list' | 'countRun' | 'pendingWith' | 'apply'>;
  publicUrl: string;
};

/** The width of the screenshots of tiles, in pixels. */
const TILE_WIDTH = 400;
/** Scans that are cancelled at the same time. */
const CANCELLED_AT_ONCE = 50;

const Count = (description?: string) => Type.Integer(description ? { description } : {});
const RunSchema = Type.Object(
  {
    ...{ id: Type.String(), campaign_id: Type.String(), label: Type.String() },
    total: Count('Its scans, discovered ads included.'),
    completed: Count('Each scan counts once, by the state in which it last ended.'),
    ...{ failed: Count(), partial: Count(), cancelled: Count() },
    source: Type.Enum(['ui', 'api'], { description: '`api`: the scans that were posted with the campaign on a day.' }),
    trigger: Type.Enum(['api'], { description: 'What made it.' }),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Run' },
);
const TileSchema = Type.Object(
  {
    ...{ id: Type.String(), country_code: Type.String(), status: Type.String(), offer_url: Type.String() },
    ...{ screenshot_url: Type.String(), report_url: Type.String(), public_report_url: Type.String() },
    ...{ elapsed_ms: Type.Integer(), error: Type.String() },
  },
  { title: 'ScanTile' },
);
const CancelledSchema = Type.Object({ cancelled_count: Type.Integer() });

const group = 'Runs';
const params = Type.Object({ run_id: Type.String({ description: 'The run.' }) });

type Shown = RunRecord & RunCounts;

/** Operations on the runs of campaigns. */
export function runRoutes(parts: RunParts): Route<Caller>[] {
  const { runs, campaigns, scans } = parts;
  const shown = async (run: RunRecord): Promise<Shown> => ({
    ...run,
    ...(await scans.countRun(run.organization_id, run._id)),
  });
  const shared = {
    group,
    noun: 'run',
    permission: 'campaigns.read',
    schema: RunSchema,
    presenter: () => present,
  } as const;
  const ofCampaign = resource<Shown>({ ...shared, path: '/api/v1/campaigns/{campaign_id}/runs', id: null });
  const all = resource<Shown>({ ...shared, path: '/api/v1/runs', id: { name: 'run_id', description: 'The run.' } });
  return [
    ofCampaign.page({
      summary: 'Runs of a campaign',
      reply: 'A page of runs, newest first.',
      rows: async ({ organizationId, params: { campaign_id = '' } }, window) => {
        if (!(await campaigns.find(organizationId, campaign_id))) return null;
        const { rows, total } = await runs.list(organizationId, campaign_id, window);
        return { rows: await Promise.all(rows.map(shown)), total };
      },
    }),
    all.read({
      summary: 'Read a run',
      reply: 'The run.',
      find: async ({ organizationId, id }) => {
        const run = await runs.find(organizationId, id);
        return run && shown(run);
      },
    }),
    cancelRoute(parts),
    tilesRoute(parts),
  ];
}

function tilesRoute({ runs, scans, publicUrl }: RunParts): Route<Caller> {
  return route({
    ...{ method: 'GET', path: '/api/v1/runs/{run_id}/scans', group, permission: 'campaigns.read', params },
    summary: 'Scans of a run',
    query: Type.Object(pageQuery, { additionalProperties: false }),
    replies: { 200: { description: 'A page of scans, newest first.', schema: pageSchema(TileSchema) } },
    errors: ['not_found'],
    handle: async ({ caller: { organizationId }, params: { run_id }, query }) => {
      if (!(await runs.find(organizationId, run_id))) throw notFound('run');
      const question = { filter: { filter_keys: filterKey('run', run_id) }, isCounted: true };
      const { rows, total } = await scans.list(organizationId, question, {
        ...rowsOf(query as PageQuery),
        after: null,
      });
      const items = rows.map((scan) => presentTile(scan, publicUrl));
      return ok(presentPage(items, total, query as PageQuery));
    },
  });
}

function cancelRoute(parts: RunParts): Route<Caller> {
  return route({
    ...{ method: 'POST', path: '/api/v1/runs/{run_id}/cancel', group, permission: 'campaigns.write', params },
    summary: 'Cancel a run',
    description: 'Cancels its pending scans and refunds them; running ones end. No further scan joins it.',
    replies: { 200: { description: 'How many scans were cancelled.', schema: CancelledSchema } },
    errors: ['not_found'],
    handle: async ({ caller: { organizationId }, params: { run_id } }) => {
      if (!(await parts.runs.find(organizationId, run_id))) throw notFound('run');
      await parts.runs.cancel(organizationId, run_id, new Date());
      return ok({ cancelled_count: await cancelPending(parts, organizationId, filterKey('run', run_id)) });
    },
  });
}

/** Cancels the pending scans with a filter key; how many. */
async function cancelPending(parts: RunParts, organizationId: string, key: string): Promise<number> {
  let cancelled = 0;
  for (let after: CursorPosition | null = null; ; ) {
    const pending = await parts.scans.pendingWith(organizationId, key, after, CANCELLED_AT_ONCE);
    const last: ScanRecord | undefined = pending.at(-1);
    if (!last) return cancelled;
    const done = await Promise.all(pending.map((scan) => cancelScan(parts, scan, new Date())));
    cancelled += done.filter(Boolean).length;
    after = { at: last.created_at, id: last._id };
  }
}

function present({ _id, campaign_id, label, trigger, created_at, ...run }: Shown) {
  const { total, completed, failed, partial, cancelled } = run;
  const source = trigger === 'api' ? 'api' : 'ui';
  const counts = { total, completed, failed, partial, cancelled };
  return { id: _id, campaign_id, label, ...counts, source, trigger, created_at: created_at.toISOString() };
}

function presentTile(scan: ListedScan, publicUrl: string) {
  const { _id, country_code, status, capture, error } = scan;
  const links = scanLinks(publicUrl, scan);
  return {
    ...{
      id: _id,
      country_code,
      status,
      offer_url: capture?.offer_url ?? '',
      elapsed_ms: capture?.crawl_ms ?? 0,
      error,
    },
    screenshot_url: capture?.has_screenshot ? `${links.screenshot}?w=${TILE_WIDTH}` : '',
    ...{ report_url: links.report, public_report_url: links.publicReport },
  };
}
