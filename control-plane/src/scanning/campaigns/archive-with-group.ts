import type { GroupStore } from '../groups/group-store.ts';
import type { GroupParts } from '../groups/routes.ts';
import type { CampaignStore } from './campaign-store.ts';

type Parts = { campaigns: Pick<CampaignStore, 'setArchivedWithGroup'>; findGroup: GroupStore['find'] };

/**
 * Archives the campaigns of a group, or restores those that were archived with it; returns how many. If they are many
 * it takes seconds: if the group is restored or archived meanwhile, they follow it.
 */
export function archiveWithGroup({ campaigns, findGroup }: Parts): GroupParts['archiveCampaigns'] {
  return async function archive(organizationId, groupId, isArchived) {
    const changed = await campaigns.setArchivedWithGroup(organizationId, groupId, isArchived);
    const group = await findGroup(organizationId, groupId);
    if (group && group.is_archived !== isArchived) await archive(organizationId, groupId, group.is_archived);
    return changed;
  };
}
