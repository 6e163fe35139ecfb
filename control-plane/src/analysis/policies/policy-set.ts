import { derivedId } from '@adsweep/shared/ids.ts';
import type { Tags } from '../../reference/tags/tag-definitions.ts';
import { type Policy, type PolicyEntry, type PolicyValue, tierNames } from './policy.ts';

/** The copy of a set that the operator approved: what campaigns of other organizations are held against. */
export type ApprovedCopy = { name: string; description: string; entries: PolicyEntry[]; approved_at: Date };

/** private: `private`; awaiting approval: `public`, not approved; approved: `public` and approved. */
export type PolicySetRecord = {
  _id: string;
  organization_id: string;
  name: string;
  description: string;
  entries: PolicyEntry[];
  visibility: 'private' | 'public';
  is_approved: boolean;
  /** Why the operator rejected its last request; null: it was not rejected. */
  moderation_note: string | null;
  /** The last approved copy, kept when the set changes, is unpublished or deleted; null: it was never approved. */
  approved: ApprovedCopy | null;
  /** Set if it was deleted and has an approved copy, which campaigns of other organizations may be bound to. */
  deleted_at: Date | null;
  /**
   * Who lists it: its organization, {@link OPERATOR} while it awaits approval, {@link EVERYONE} once it is approved.
   */
  audiences: string[];
  /** The slugs of its tags. */
  tag_slugs: string[];
  version: number;
  created_at: Date;
};

export type PublicationState = 'private' | 'awaiting' | 'approved';

export const stateOf = ({ visibility, is_approved }: PolicySetRecord): PublicationState => {
  if (visibility === 'private') return 'private';
  return is_approved ? 'approved' : 'awaiting';
};

/** Those who list approved sets (everyone) and sets that await approval (the operator). */
export const EVERYONE = 'everyone';
export const OPERATOR = 'operator';
export const ownerAudience = (organizationId: string): string => `organization:${organizationId}`;

/** What follows from the other fields of a set. */
export function withDerived(set: PolicySetRecord): PolicySetRecord {
  const shared = { private: [], awaiting: [OPERATOR], approved: [EVERYONE] }[stateOf(set)];
  const audiences = set.deleted_at ? [] : [ownerAudience(set.organization_id), ...shared];
  const slugs = set.entries.flatMap((entry) => (entry.rule_type === 'tag' ? [entry.tag_slug] : []));
  return { ...set, audiences, tag_slugs: [...new Set(slugs)] };
}

/** The same content has the same id in every version of a set, so that a recheck raises its alert no second time. */
export function entryOf(setId: string, value: PolicyValue, countries: string[]): PolicyEntry {
  const country_codes = [...new Set(countries)].sort();
  return { ...value, id: derivedId(`${setId}/${contentKey(value, country_codes)}`, 0), country_codes };
}

/** Identifies the content of an entry within a set. */
export function contentKey(value: PolicyValue, country_codes: string[]): string {
  const lower = (names: string[]) => names.map((name) => name.trim().toLowerCase());
  const what = () => {
    switch (value.rule_type) {
      case 'tag':
        return [value.tag_slug];
      case 'brand':
        return lower([value.brand]);
      case 'iab_v3':
        return [value.iab_v3.id];
      case 'ai_category':
        return lower(tierNames(value.ai_category));
      case 'custom_taxonomy':
        return [value.custom_taxonomy.taxonomy_id, ...lower(tierNames(value.custom_taxonomy))];
    }
  };
  return JSON.stringify([value.rule_type, what(), [...new Set(country_codes)].sort()]);
}

/** What campaigns of an organization that are bound to the set are held against; null: nothing. */
export function policyFor(organizationId: string, set: PolicySetRecord): Policy | null {
  if (set.organization_id === organizationId)
    return set.deleted_at ? null : { id: set._id, name: set.name, entries: set.entries };
  return set.approved && { id: set._id, name: set.approved.name, entries: set.approved.entries };
}

/** The entries that cannot be shared: they name tags or taxonomies of the organization. */
export function privateEntries(entries: readonly PolicyValue[], tags: Tags): number[] {
  return entries.flatMap((entry, at) => {
    if (entry.rule_type === 'custom_taxonomy') return [at];
    const isOwn = entry.rule_type === 'tag' && tags.get(entry.tag_slug)?.organization_id != null;
    return isOwn ? [at] : [];
  });
}
