import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import type { Domain } from '../domain.ts';
import type { Platform } from '../platform/platform.ts';
import { campaignStore } from './campaigns/campaign-store.ts';
import { findCampaigns } from './campaigns/find-campaigns.ts';
import { campaignRoutes } from './campaigns/routes.ts';
import { groupStore } from './groups/group-store.ts';
import { groupRoutes } from './groups/routes.ts';
import type { ScanCreation } from './scans/request/create-scans.ts';

/** What campaigns need from scanning. */
export type CampaignsNeeds = Pick<ScanCreation, 'findIssues'>;

/** `addresses`: the addresses that targets and referrers may have. */
export type CampaignsSettings = { addresses: AddressPolicy };

export type CampaignsDomain = ReturnType<typeof campaignsDomain>;

/** Campaigns and their groups. */
export function campaignsDomain(
  { store }: Pick<Platform, 'store'>,
  { findIssues }: CampaignsNeeds,
  { addresses }: CampaignsSettings,
) {
  const [groups, campaigns] = [groupStore(store), campaignStore(store)];
  const findGroup = (organizationId: string, id: string) => groups.find(organizationId, id);
  return {
    stores: { groups, campaigns },
    routes: {
      api: [
        ...groupRoutes({
          groups,
          summaryOf: campaigns.summaryOfGroup,
          archiveCampaigns: campaigns.setArchivedWithGroup,
        }),
        ...campaignRoutes({
          ...{ campaigns, findIssues, addresses, findGroup },
          hasGroup: async (organizationId, id) => (await findGroup(organizationId, id)) !== null,
          // There are no policy sets yet.
          hasPolicySet: async () => false,
        }),
      ],
    },
    loops: {},
    outboxHandlers: {},
    verbs: findCampaigns({ campaigns, groups }),
  } satisfies Domain;
}
