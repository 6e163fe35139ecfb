import type { GroupStore } from '../groups/group-store.ts';
import type { CampaignWords, FindCampaign } from '../scans/request/find-campaign.ts';
import type { CampaignStore } from './campaign-store.ts';

type Run = { campaign_id: string; cancelled_at: Date | null };
type Parts = {
  campaigns: CampaignStore;
  groups: GroupStore;
  findRun: (organizationId: string, id: string) => Promise<Run | null>;
};

/** What scans ask of campaigns. */
export function findCampaigns({ campaigns, groups, findRun }: Parts) {
  const findCampaign: FindCampaign = async (organizationId, campaignId, runId) => {
    const campaign = campaignId === null ? null : await campaigns.find(organizationId, campaignId);
    const run = campaign && runId !== null ? await findRun(organizationId, runId) : null;
    return {
      hasCampaign: campaignId === null || campaign !== null,
      hasRun: runId === null || run?.campaign_id === campaignId,
      isArchived: campaign?.is_archived ?? false,
      isRunCancelled: Boolean(run?.cancelled_at),
    };
  };

  return {
    findCampaign,

    /**
     * The names of campaigns and of their groups as they are now, by campaign id: two reads, however many campaigns.
     */
    async campaignWordsOf(organizationId: string, ids: string[]): Promise<Map<string, CampaignWords>> {
      if (ids.length === 0) return new Map();
      const found = await campaigns.namesOf(organizationId, ids);
      const ofGroups = await groups.findAll(organizationId, [...new Set(found.map(({ group_id }) => group_id))]);
      const groupNames = new Map(ofGroups.map(({ _id, name }) => [_id, name]));
      return new Map(
        found.map(({ _id, name, group_id }) => [
          _id,
          { name, groupId: group_id, groupName: groupNames.get(group_id) ?? '' },
        ]),
      );
    },

    /** The ids of the campaigns that are in a group now. */
    campaignsInGroup: (organizationId: string, groupId: string) => campaigns.idsInGroup(organizationId, groupId),
  };
}
