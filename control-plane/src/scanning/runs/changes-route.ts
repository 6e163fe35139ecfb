import { Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, type Route } from '../../http/route.ts';
import { LOOK_DIFFERENCES } from '../../scan/look.ts';
import type { ChangedScan } from '../../scan/scan-list-store.ts';
import type { ScanStore } from '../../scan/scan-store.ts';

export type ChangesParts = {
  findCampaign: (organizationId: string, id: string) => Promise<object | null>;
  scans: Pick<ScanStore, 'changedIn'>;
};

const ChangeSchema = Type.Object(
  {
    kind: Type.Enum(['creative', 'landing']),
    what: Type.Array(Type.Enum(LOOK_DIFFERENCES), {
      description: '`domain`: that of the landing; `redirects`: the domains on the way to it; `picture`: what is seen.',
    }),
    previous_scan_id: Type.String({ description: 'The scan of the last run that is most alike.' }),
    previous_run_id: Type.String(),
    before: Type.String({ description: 'URL of the landing then; empty for a creative.' }),
    after: Type.String({ description: 'URL of the landing now; empty for a creative.' }),
  },
  { title: 'LookChange' },
);
const ChangedScanSchema = Type.Object(
  {
    scan_id: Type.String(),
    run_id: Type.String(),
    country_code: Type.String(),
    emulator_id: Type.String(),
    changes: Type.Array(ChangeSchema),
    created_at: moment(),
  },
  { title: 'ChangedScan' },
);

/** What changed between the runs of a campaign. */
export function changesRoutes({ findCampaign, scans }: ChangesParts): Route<Caller>[] {
  const changes = resource<ChangedScan>({
    group: 'Runs',
    path: '/api/v1/campaigns/{campaign_id}/changes',
    id: null,
    noun: 'campaign',
    permission: 'campaigns.read',
    schema: ChangedScanSchema,
    presenter: () => presentChanged,
  });
  return [
    changes.page({
      summary: 'Changes between the runs of a campaign',
      description:
        'The scans that showed another creative or landing than the last run did in the same country on the same device, newest first. They have the tag `creative_changed` or `landing_changed`.',
      reply: 'A page of changed scans.',
      rows: async ({ organizationId, params: { campaign_id = '' } }, window) =>
        (await findCampaign(organizationId, campaign_id)) ? scans.changedIn(organizationId, campaign_id, window) : null,
    }),
  ];
}

const presentChanged = ({ _id, run_id, country_code, emulator_id, changes, created_at }: ChangedScan) => ({
  scan_id: _id,
  run_id: run_id ?? '',
  country_code,
  emulator_id,
  changes: changes ?? [],
  created_at: created_at.toISOString(),
});
