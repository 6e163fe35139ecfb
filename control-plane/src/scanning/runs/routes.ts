import { newId } from '@adsweep/shared/ids.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { type PageQuery, pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { resource } from '../../http/resource-routes.ts';
import { created, moment, ok, type Route, route } from '../../http/route.ts';
import { filterKey } from '../../scan/filter-keys.ts';
import type { RunCounts } from '../../scan/run-counts.ts';
import type { ListedScan } from '../../scan/scan.ts';
import { type PublicUrls, scanLinks } from '../../scan/scan-links.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { CampaignStore } from '../campaigns/campaign-store.ts';
import { archived } from '../campaigns/routes.ts';
import { BILLING_ERRORS } from '../scans/request/create-scans.ts';
import type { cancelRuns } from './cancel-runs.ts';
import { countersOf, RUN_TRIGGERS, type RunRecord } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { StartRun } from './start-run.ts';

export type RunParts = {
  runs: RunStore;
  campaigns: Pick<CampaignStore, 'find'>;
  scans: Pick<ScanStore, 'list' | 'countRun'>;
  cancel: Pick<ReturnType<typeof cancelRuns>, 'cancelRun' | 'cancelCampaign'>;
  startRun: StartRun;
  urls: PublicUrls;
};

/** The width of the screenshots of tiles, in pixels. */
const TILE_WIDTH = 400;

const Count = (description?: string) => Type.Integer(description ? { description } : {});
const RunSchema = Type.Object(
  {
    id: Type.String(),
    campaign_id: Type.String(),
    label: Type.String(),
    total: Count('Its scans, those that are not created yet and discovered ads included.'),
    completed: Count('Each scan counts once, by the state in which it last ended.'),
    failed: Count(),
    partial: Count(),
    cancelled: Count('Scans that were not created yet when the run was cancelled are included.'),
    source: Type.Enum(['ui', 'api'], { description: '`api`: the scans that were posted with the campaign on a day.' }),
    trigger: Type.Enum([...RUN_TRIGGERS], {
      description: 'What made it; `manual`: a request to run the campaign, `group`: one to run its group.',
    }),
    created_at: moment(),
  },
  { title: 'Run' },
);
const TileSchema = Type.Object(
  {
    id: Type.String(),
    country_code: Type.String(),
    status: Type.String(),
    offer_url: Type.String(),
    screenshot_url: Type.String(),
    report_url: Type.String(),
    public_report_url: Type.String(),
    elapsed_ms: Type.Integer(),
    error: Type.String(),
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
        return { rows: await inTurns(rows, shown), total };
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
    runCampaignRoute(parts),
    cancelCampaignRoute(parts),
  ];
}

function tilesRoute({ runs, scans, urls }: RunParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/runs/{run_id}/scans',
    group,
    permission: 'campaigns.read',
    params,
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
      const items = rows.map((scan) => presentTile(scan, urls));
      return ok(presentPage(items, total, query as PageQuery));
    },
  });
}

function runCampaignRoute({ campaigns, scans, startRun }: RunParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/campaigns/{campaign_id}/run',
    group,
    permission: 'campaigns.write',
    params: Type.Object({ campaign_id: Type.String({ description: 'The campaign.' }) }),
    summary: 'Run a campaign',
    description:
      'All scans of the run are accepted together, or none if the quota or the balance does not cover them. They appear within seconds.',
    replies: { 201: { description: 'The run.', schema: RunSchema } },
    errors: ['not_found', 'campaigns.archived', 'storage.quota_exhausted', ...BILLING_ERRORS],
    handle: async ({ caller: { organizationId }, params: { campaign_id }, recordId = newId() }) => {
      const campaign = await campaigns.find(organizationId, campaign_id);
      if (!campaign) throw notFound('campaign');
      if (campaign.is_archived) throw archived();
      const run = await startRun(campaign, { id: recordId, trigger: 'manual', now: new Date() });
      return created(present({ ...run, ...(await scans.countRun(organizationId, run._id)) }));
    },
  });
}

function cancelRoute({ runs, cancel }: RunParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/runs/{run_id}/cancel',
    group,
    permission: 'campaigns.write',
    params,
    summary: 'Cancel a run',
    description:
      'Cancels its pending scans and refunds them, and those that are not created yet; running ones end. No further scan joins it.',
    replies: { 200: { description: 'How many scans were cancelled.', schema: CancelledSchema } },
    errors: ['not_found'],
    handle: async ({ caller: { organizationId }, params: { run_id } }) => {
      const run = await runs.find(organizationId, run_id);
      if (!run) throw notFound('run');
      return ok({ cancelled_count: await cancel.cancelRun(run) });
    },
  });
}

function cancelCampaignRoute({ campaigns, cancel }: RunParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/campaigns/{campaign_id}/cancel',
    group,
    permission: 'campaigns.write',
    params: Type.Object({ campaign_id: Type.String({ description: 'The campaign.' }) }),
    summary: 'Cancel the scans of a campaign',
    description: 'Cancels the pending scans of all its runs, and those that are not created yet; running ones end.',
    replies: { 200: { description: 'How many scans were cancelled.', schema: CancelledSchema } },
    errors: ['not_found'],
    handle: async ({ caller: { organizationId }, params: { campaign_id } }) => {
      if (!(await campaigns.find(organizationId, campaign_id))) throw notFound('campaign');
      return ok({ cancelled_count: await cancel.cancelCampaign(organizationId, campaign_id) });
    },
  });
}

function present(run: Shown) {
  const { _id, campaign_id, label, trigger, created_at } = run;
  const source = trigger === 'api' ? 'api' : 'ui';
  const { total, completed, failed, partial, cancelled } = countersOf(run, run);
  const counts = { total, completed, failed, partial, cancelled };
  return { id: _id, campaign_id, label, ...counts, source, trigger, created_at: created_at.toISOString() };
}

function presentTile(scan: ListedScan, urls: PublicUrls) {
  const { _id, country_code, status, capture, error } = scan;
  const links = scanLinks(urls, scan);
  return {
    id: _id,
    country_code,
    status,
    offer_url: capture?.offer_url ?? '',
    elapsed_ms: capture?.crawl_ms ?? 0,
    error,
    screenshot_url: capture?.has_screenshot ? `${links.screenshot}?w=${TILE_WIDTH}` : '',
    report_url: links.report,
    public_report_url: links.publicReport,
  };
}
