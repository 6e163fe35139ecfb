import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import type { AccountsDomain } from '../accounts/accounts.ts';
import type { Domain } from '../domain.ts';
import type { Platform } from '../platform/platform.ts';
import type { CancelParts } from '../scan/cancel.ts';
import type { ScanDomain } from '../scan/scan-domain.ts';
import type { PublicUrls } from '../scan/scan-links.ts';
import { type FindUnknownDestinations, INHERITED } from './campaigns/alert-routing.ts';
import { archiveWithGroup } from './campaigns/archive-with-group.ts';
import { campaignStore } from './campaigns/campaign-store.ts';
import { findCampaigns } from './campaigns/find-campaigns.ts';
import { type CampaignParts, campaignRoutes } from './campaigns/routes.ts';
import { groupStore } from './groups/group-store.ts';
import { groupRoutes } from './groups/routes.ts';
import { cancelRuns } from './runs/cancel-runs.ts';
import { changesRoutes } from './runs/changes-route.ts';
import { startCreatingScansOfRuns } from './runs/create-scans-of-runs.ts';
import { startFiring } from './runs/fire-schedules.ts';
import { joinApiRun } from './runs/join-run.ts';
import { runRoutes } from './runs/routes.ts';
import { groupRuns } from './runs/run-group.ts';
import { runStore } from './runs/run-store.ts';
import { startRun } from './runs/start-run.ts';
import type { ScanCreation } from './scans/request/create-scans.ts';

/** What campaigns need from accounts, scanning and delivery. */
export type CampaignsNeeds = { findUnknownDestinations: FindUnknownDestinations } & Pick<
  ScanCreation,
  'findIssues' | 'certainOf' | 'createChecked'
> &
  Pick<AccountsDomain['verbs'], 'priceOfCheck' | 'reserveRun' | 'releaseRun' | 'storedPerDay'> &
  Pick<ScanDomain['stores'], 'scans'> &
  Pick<CancelParts, 'unqueue'> &
  Pick<CampaignParts, 'hasPolicySet' | 'isPolicySetGone' | 'defaultPolicySet'>;

/** `addresses`: the addresses that targets and referrers may have. */
export type CampaignsSettings = PublicUrls & { addresses: AddressPolicy };

export type CampaignsDomain = ReturnType<typeof campaignsDomain>;

/** Campaigns, their groups and their runs. */
export function campaignsDomain(
  { store, wake, metrics, logger }: Pick<Platform, 'store' | 'wake' | 'metrics' | 'logger'>,
  needs: CampaignsNeeds,
  { addresses, publicUrl, hasConsole }: CampaignsSettings,
) {
  const { findIssues, certainOf, scans, findUnknownDestinations } = needs;
  const { hasPolicySet, isPolicySetGone, defaultPolicySet } = needs;
  const [groups, campaigns, runs] = [groupStore(store), campaignStore(store), runStore(store)];
  const findGroup = (organizationId: string, id: string) => groups.find(organizationId, id);
  const archiveCampaigns = archiveWithGroup({ campaigns, findGroup });
  const start = startRun({ ...needs, runs, campaigns, runAccepted: () => wake.announce('runs') });
  const cancel = cancelRuns({ ...needs, runs, log: logger, outboxFilled: () => wake.announce('scan-outbox') });
  const creating = { ...needs, runs, campaigns, cancelPending: cancel.cancelPendingOfRun, logger };
  const firing = {
    campaigns,
    findRun: runs.find,
    countRun: scans.countRun,
    startRun: start,
    metrics,
    logger,
    isPaused: async (organizationId: string, groupId: string) => {
      const group = await groups.find(organizationId, groupId);
      return group !== null && (group.schedule_paused || group.is_archived);
    },
  };
  return {
    stores: { groups, campaigns, runs },
    routes: {
      api: [
        ...groupRoutes({
          groups,
          summaryOf: campaigns.summaryOfGroup,
          archiveCampaigns,
          ...groupRuns({ campaigns, startRun: start, cancelCampaign: cancel.cancelCampaign }),
        }),
        ...campaignRoutes({
          campaigns,
          findIssues,
          certainOf,
          addresses,
          findGroup,
          archiveCampaigns,
          findUnknownDestinations,
          hasGroup: async (organizationId, id) => (await findGroup(organizationId, id)) !== null,
          hasPolicySet,
          isPolicySetGone,
          defaultPolicySet,
        }),
        ...changesRoutes({ findCampaign: (...campaign) => campaigns.find(...campaign), scans }),
        ...runRoutes({ runs, campaigns, scans, cancel, startRun: start, urls: { publicUrl, hasConsole } }),
      ],
    },
    loops: { scheduler: () => [startFiring(firing), startCreatingScansOfRuns(creating, wake.signal('runs'))] },
    outboxHandlers: {},
    verbs: {
      ...findCampaigns({ campaigns, groups, findRun: runs.find }),
      joinRun: joinApiRun({ runs, campaigns }),
      isRunCancelled: async (organizationId: string, runId: string) =>
        Boolean((await runs.find(organizationId, runId))?.cancelled_at),
      /** The id of the policy set that a campaign is bound to; null: none. */
      policySetOf: async (organizationId: string, id: string) =>
        (await campaigns.find(organizationId, id))?.policy_set_id ?? null,
      /** The alert routing of a campaign; null: there is no such campaign. */
      readRouting: async (organizationId: string, campaignId: string) => {
        const campaign = await campaigns.find(organizationId, campaignId);
        return campaign && { ...INHERITED, ...campaign.notifications };
      },
      writeRouting: campaigns.setRouting,
      /** Whether scans of a run are still to be created with this reservation. */
      async isCreatingRun(organizationId: string, runId: string, reservationId: string): Promise<boolean> {
        const run = await runs.find(organizationId, runId);
        return run?.creation?.reservation_id === reservationId;
      },
      bindCampaigns: campaigns.bindTo,
      unbindCampaigns: campaigns.unbindFrom,
      boundCampaigns: campaigns.boundTo,
      activeBoundCampaign: campaigns.activeBoundTo,
      /** Those of these ids that are campaigns of the organization. */
      knownCampaigns: async (organizationId: string, ids: string[]) =>
        new Set((await campaigns.namesOf(organizationId, ids)).map(({ _id }) => _id)),
    },
    dependencies: { creating, firing },
  } satisfies Domain;
}
