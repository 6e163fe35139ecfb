import { newId } from '@adsweep/shared/ids.ts';
import type { PolicyValue } from '../../src/analysis/policies/policy.ts';
import { entryOf, type PolicySetRecord } from '../../src/analysis/policies/policy-set.ts';
import { policySetStore } from '../../src/analysis/policies/policy-set-store.ts';
import type { Store } from '../../src/platform/store.ts';
import { DEFAULTS, newCampaign } from '../../src/scanning/campaigns/campaign.ts';
import { campaignStore } from '../../src/scanning/campaigns/campaign-store.ts';

/** A private set of an organization with these entries, for every country unless `countries` has some. */
export function policySetOf(
  organization_id: string,
  values: PolicyValue[],
  { countries = [] as string[], ...changes }: Partial<PolicySetRecord> & { countries?: string[] } = {},
): PolicySetRecord {
  const _id = changes._id ?? newId();
  return {
    ...{ _id, organization_id, name: 'Brand safety', description: '', visibility: 'private', is_approved: false },
    ...{ moderation_note: null, approved: null, deleted_at: null, audiences: [], tag_slugs: [], version: 0 },
    ...{ created_at: new Date(), entries: values.map((value) => entryOf(_id, value, countries)) },
    ...changes,
  };
}

/** Stores a campaign of the organization that is bound to a set with these entries; the ids of both. */
export async function boundCampaign(store: Store, organizationId: string, values: PolicyValue[]) {
  const set = policySetOf(organizationId, values);
  await policySetStore(store).insert(set);
  const settings = {
    ...{ ...DEFAULTS, name: 'Bound', campaign_type: 'url' as const, url: 'https://shop.example/', group_id: 'group' },
    ...{ country_codes: ['US'], policy_set_id: set._id },
  };
  const campaign = newCampaign(settings, { id: newId(), organizationId, now: new Date() });
  await campaignStore(store).insertWithin(campaign);
  return { set, campaignId: campaign._id };
}
