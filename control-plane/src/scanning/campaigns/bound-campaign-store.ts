import { FOUND_AT_ONCE, inPortions, updateInPortions } from '../../platform/in-portions.ts';
import { type Collection, containing, type Filter } from '../../platform/store.ts';
import type { CampaignRecord } from './campaign.ts';

/** A campaign as a policy set lists it. */
export type BoundCampaign = Pick<CampaignRecord, '_id' | 'name' | 'is_archived'>;

const SHOWN = { name: 1, is_archived: 1 };
/** Campaigns with one name are in the order of their ids. */
const BY_NAME = { name: 1, _id: 1 } as const;

export const BOUND_INDEX = { key: { organization_id: 1, policy_set_id: 1, ...BY_NAME }, countedPrefix: 2 };

/** The binding of an organization's campaigns to policy sets. A change of it counts as a change of the campaign. */
export function boundCampaigns(campaigns: Collection<CampaignRecord>) {
  const bind = async (where: Filter<CampaignRecord>, policy_set_id: string | null): Promise<void> => {
    await updateInPortions(campaigns, where, { $set: { policy_set_id }, $inc: { version: 1 } });
  };

  return {
    /** Binds campaigns to a set; those that were bound elsewhere move. */
    bindTo: (organization_id: string, setId: string, ids: string[]) =>
      inPortions(ids, FOUND_AT_ONCE, (portion) =>
        bind({ organization_id, _id: { $in: portion }, policy_set_id: { $ne: setId } }, setId),
      ),

    /** Unbinds campaigns from a set: these, or all but `kept`. */
    unbindFrom: (organization_id: string, setId: string, { ids, kept = [] }: { ids?: string[]; kept?: string[] }) =>
      bind({ organization_id, policy_set_id: setId, _id: ids ? { $in: ids } : { $nin: kept } }, null),

    /**
     * A page of the campaigns that are bound to a set, by name, and their number. `name`: a part of it, any letter
     * case.
     */
    async boundTo(
      organization_id: string,
      policy_set_id: string,
      { name, skip, limit }: { name?: string; skip: number; limit: number },
    ): Promise<{ rows: BoundCampaign[]; total: number }> {
      const where: Filter<CampaignRecord> = { organization_id, policy_set_id };
      if (name !== undefined) where.name = containing(name);
      const rows = campaigns.find(where).sort(BY_NAME).skip(skip).limit(limit).project<BoundCampaign>(SHOWN);
      return { rows: await rows.toArray(), total: await campaigns.countDocuments(where) };
    },

    /** The name of a campaign that is bound to a set and not archived; null: there is none. */
    async activeBoundTo(organization_id: string, policy_set_id: string): Promise<string | null> {
      const found = campaigns.find({ organization_id, policy_set_id, is_archived: false }).limit(1);
      return (await found.project<BoundCampaign>(SHOWN).toArray())[0]?.name ?? null;
    },
  };
}
