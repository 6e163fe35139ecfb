import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import type { Domain } from '../domain.ts';
import type { Platform } from '../platform/platform.ts';
import type { CancelParts } from '../scan/cancel.ts';
import type { ScanDomain } from '../scan/scan-domain.ts';
import { type FindUnknownDestinations, INHERITED } from './campaigns/alert-routing.ts';
import { campaignStore } from './campaigns/campaign-store.ts';
import { findCampaigns } from './campaigns/find-campaigns.ts';
import { campaignRoutes } from './campaigns/routes.ts';
import { groupStore } from './groups/group-store.ts';
import { groupRoutes } from './groups/routes.ts';
import { joinApiRun } from './runs/join-run.ts';
import { runRoutes } from './runs/routes.ts';
import { runStore } from './runs/run-store.ts';
import type { ScanCreation } from './scans/request/create-scans.ts';

/** What campaigns need from scanning. */
export type CampaignsNeeds = { findUnknownDestinations: FindUnknownDestinations } & Pick<ScanCreation, 'findIssues'> &
  Pick<ScanDomain['stores'], 'scans'> &
  Pick<CancelParts, 'unqueue'>;

/** `addresses`: the addresses that targets and referrers may have. `publicUrl`: how clients reach the API, without a final slash. */
export type CampaignsSettings = { addresses: AddressPolicy; publicUrl: string };

export type CampaignsDomain = ReturnType<typeof campaignsDomain>;

/** Campaigns, their groups and their runs. */
export function campaignsDomain(
  { store, wake, logger }: Pick<Platform, 'store' | 'wake' | 'logger'>,
  { findIssues, scans, unqueue, findUnknownDestinations }: CampaignsNeeds,
  { addresses, publicUrl }: CampaignsSettings,
) {
  const [groups, campaigns, runs] = [groupStore(store), campaignStore(store), runStore(store)];
  const findGroup = (organizationId: string, id: string) => groups.find(organizationId, id);
  return {
    stores: { groups, campaigns, runs },
    routes: {
      api: [
        ...groupRoutes({
          groups,
          summaryOf: campaigns.summaryOfGroup,
          archiveCampaigns: campaigns.setArchivedWithGroup,
        }),
        ...campaignRoutes({
          ...{ campaigns, findIssues, addresses, findGroup, findUnknownDestinations },
          hasGroup: async (organizationId, id) => (await findGroup(organizationId, id)) !== null,
          // There are no policy sets yet.
          hasPolicySet: async () => false,
        }),
        ...runRoutes({
          runs,
          campaigns,
          scans,
          publicUrl,
          unqueue,
          log: logger,
          outboxFilled: () => wake.announce('outbox'),
        }),
      ],
    },
    loops: {},
    outboxHandlers: {},
    verbs: {
      ...findCampaigns({ campaigns, groups, findRun: runs.find }),
      joinRun: joinApiRun({ runs, campaigns }),
      /** The id of the policy set that a campaign is bound to; null: none. */
      policySetOf: async (organizationId: string, id: string) =>
        (await campaigns.find(organizationId, id))?.policy_set_id ?? null,
      /** The alert routing of a campaign; null: there is no such campaign. */
      readRouting: async (organizationId: string, campaignId: string) => {
        const campaign = await campaigns.find(organizationId, campaignId);
        return campaign && { ...INHERITED, ...campaign.notifications };
      },
      writeRouting: campaigns.setRouting,
    },
  } satisfies Domain;
}
