import type { SystemTag } from './system-tag.ts';
import { SYSTEM_TAGS } from './system-tags.ts';

/**
 * The definition of a tag. `organization_id`: null for a system tag. `archived_at`: when it was archived; null: it is
 * active (spec 2.5).
 */
export type TagDefinition = SystemTag & { organization_id: string | null; archived_at: Date | null };

/** A stored definition. For a built-in tag only `archived_at` counts; all else comes from the code. */
export type TagDefinitionRecord = TagDefinition & { _id: string; owner: string; created_at: Date };

/** The definitions that one organization can see, by slug. */
export type Tags = ReadonlyMap<string, TagDefinition>;

/**
 * Reads the definitions that an organization can use, archived ones included; null: only those of the system. Of stored
 * ones those of `slugs`; absent: all.
 */
export type ReadTags = (organizationId: string | null, slugs?: string[]) => Promise<Tags>;

/** The `owner` of system tags. */
export const SYSTEM = 'system';

const BUILT_IN: ReadonlyMap<string, TagDefinition> = new Map(
  SYSTEM_TAGS.map((tag) => [tag.slug, { ...tag, organization_id: null, archived_at: null }]),
);

/** The definition of a built-in tag; null for any other slug. */
export const builtInTag = (slug: string): TagDefinition | null => BUILT_IN.get(slug) ?? null;

/**
 * The record of a definition. Its id is derived from owner and slug, so that a repeated registration stores it once.
 */
export function tagDefinitionRecord(tag: TagDefinition, now: Date): TagDefinitionRecord {
  const owner = tag.organization_id ?? SYSTEM;
  return { ...tag, _id: `${owner}/${tag.slug}`, owner, created_at: now };
}

/**
 * Merges built-in and stored definitions, by slug. A system tag takes precedence over an organization's tag with the
 * same slug.
 */
export function mergeDefinitions(records: TagDefinitionRecord[]): Tags {
  const [ofSystem, own] = [records.filter(isOfSystem), records.filter((record) => !isOfSystem(record))];
  const stored = ofSystem.map((record) => {
    const builtIn = BUILT_IN.get(record.slug);
    return [record.slug, builtIn ? { ...builtIn, archived_at: record.archived_at } : record] as const;
  });
  return new Map<string, TagDefinition>([...own.map((tag) => [tag.slug, tag] as const), ...BUILT_IN, ...stored]);
}

const isOfSystem = ({ owner }: TagDefinitionRecord): boolean => owner === SYSTEM;

/** Whether a tag exists and is archived. */
export const isArchived = (tags: Tags, slug: string): boolean => (tags.get(slug)?.archived_at ?? null) !== null;

/** A tag that only the operator sees: a hidden one of the platform. */
export const isOperatorsTag = ({ organization_id, visibility }: TagDefinition): boolean =>
  organization_id === null && visibility === 'hidden';

/** The definitions that organizations see: without those that only the operator sees. */
export const visibleTags = (tags: Tags): Tags => new Map([...tags].filter(([, tag]) => !isOperatorsTag(tag)));

/** The slugs of those that only the operator sees. */
export const hiddenAmong = (tags: Tags): string[] => [...tags.values()].filter(isOperatorsTag).map(({ slug }) => slug);

/** Whether a tag, archived or not, has this category; `except`: another one than that of this slug. */
export const hasCategory = (tags: Tags, category: string, except?: string): boolean =>
  [...tags.values()].some((tag) => tag.category === category && tag.slug !== except);

/** The definition of an active tag; null for an unknown or archived one. */
export function inService(tags: Tags, slug: string): TagDefinition | null {
  const tag = tags.get(slug);
  return tag && tag.archived_at === null ? tag : null;
}
