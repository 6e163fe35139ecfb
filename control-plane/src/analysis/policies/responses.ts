import { Type } from 'typebox';
import { type Caller, isOperator } from '../../http/caller.ts';
import { moment, orNull } from '../../http/route.ts';
import { isOperatorsTag, type Tags } from '../../reference/tags/tag-definitions.ts';
import { POLICY_RULE_TYPES, type PolicyEntry } from './policy.ts';
import type { PolicySetRecord } from './policy-set.ts';
import type { PolicySetRow } from './policy-set-store.ts';
import type { BoundCampaign } from './policy-set-verbs.ts';

const tier = orNull(Type.String());
const tiers = { tier1: Type.String(), tier2: tier, tier3: tier, tier4: tier };
const TiersSchema = Type.Object(tiers, { title: 'PolicyTiers' });

const PolicyEntrySchema = Type.Object(
  {
    id: Type.String(),
    rule_type: Type.Enum([...POLICY_RULE_TYPES]),
    tag_slug: orNull(Type.String()),
    iab_v3: orNull(TiersSchema),
    brand: orNull(Type.String()),
    ai_category: orNull(TiersSchema),
    custom_taxonomy: orNull(Type.Object({ taxonomy_id: Type.String(), ...tiers }, { title: 'TaxRef' })),
    country_codes: Type.Array(Type.String()),
  },
  { title: 'PolicyEntry' },
);

export const LinkedCampaignSchema = Type.Object(
  { id: Type.String(), name: Type.String(), is_archived: Type.Boolean() },
  { title: 'LinkedCampaign' },
);

const item = {
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  organization_id: Type.String(),
  visibility: Type.Enum(['private', 'public']),
  is_approved: Type.Boolean({ description: 'false and `public`: it awaits approval.' }),
  is_default: Type.Boolean({ description: 'Bound to new campaigns that name no set; false for those of others.' }),
  moderation_note: orNull(Type.String({ description: 'Why the operator rejected or took down the set.' })),
  version: Type.Integer({ description: 'Grows with every change of the set.' }),
  created_at: moment(),
};
export const PolicySetItemSchema = Type.Object(item, { title: 'PolicySetItem' });
export const PolicySetSchema = Type.Object(
  {
    ...item,
    entries: Type.Array(PolicyEntrySchema),
    campaigns: Type.Array(LinkedCampaignSchema, { description: 'The first of your bound campaigns, by name.' }),
    campaigns_total: Type.Integer(),
  },
  { title: 'PolicySet' },
);

export const PreviewSchema = Type.Object(
  {
    scans: Type.Integer({ description: 'Finished scans that were looked at, the newest 5,000 at most.' }),
    alerts: Type.Integer(),
    by_entry: Type.Array(Type.Object({ entry_id: Type.String(), alerts: Type.Integer() })),
    sample_scan_ids: Type.Array(Type.String()),
  },
  { title: 'PolicyPreview' },
);

export const presentLinked = ({ _id, name, is_archived }: BoundCampaign) => ({ id: _id, name, is_archived });

/** A row of the list; `defaultId`: the viewer's default set. */
export function presentItem(set: PolicySetRow, caller: Caller, defaultId: string | null) {
  const { _id, name, description, organization_id, visibility, is_approved, moderation_note, version, created_at } =
    set;
  const isOwn = organization_id === caller.organizationId;
  return {
    id: _id,
    name,
    description,
    organization_id,
    visibility,
    is_approved,
    is_default: isOwn && defaultId === _id,
    moderation_note: isOwn ? moderation_note : null,
    version,
    created_at: created_at.toISOString(),
  };
}

/** A set as a caller sees it, with a part of the campaigns that are bound to it. */
export function presentSet(
  set: PolicySetRecord,
  caller: Caller,
  more: { defaultId: string | null; tags: Tags; bound: { rows: BoundCampaign[]; total: number } },
) {
  return {
    ...presentItem(set, caller, more.defaultId),
    entries: set.entries.map((entry) => presentEntry(entry, more.tags, isOperator(caller))),
    campaigns: more.bound.rows.map(presentLinked),
    campaigns_total: more.bound.total,
  };
}

function presentEntry(entry: PolicyEntry, tags: Tags, seesHidden: boolean) {
  const { id, rule_type, country_codes } = entry;
  const none = { tag_slug: null, iab_v3: null, brand: null, ai_category: null, custom_taxonomy: null };
  return { id, rule_type, ...none, ...shownValue(entry, tags, seesHidden), country_codes };
}

function shownValue(entry: PolicyEntry, tags: Tags, seesHidden: boolean) {
  switch (entry.rule_type) {
    case 'tag': {
      const tag = tags.get(entry.tag_slug);
      return { tag_slug: tag && isOperatorsTag(tag) && !seesHidden ? 'hidden' : entry.tag_slug };
    }
    case 'iab_v3': {
      const { id: _, ...path } = entry.iab_v3;
      return { iab_v3: path };
    }
    case 'brand':
      return { brand: entry.brand };
    case 'ai_category':
      return { ai_category: entry.ai_category };
    case 'custom_taxonomy':
      return { custom_taxonomy: entry.custom_taxonomy };
  }
}
