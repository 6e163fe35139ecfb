import type { SystemTag } from './system-tag.ts';
import { SYSTEM_TAGS } from './system-tags.ts';

/** What a tag means. System ones belong to no organization. `archived_at`: since when it is out of service (spec 2.5). */
export type TagDefinition = SystemTag & { organization_id: string | null; archived_at: Date | null };

/** A stored definition. Of a built-in tag the store keeps whether it is archived; its words are those of this version. */
export type TagDefinitionRecord = TagDefinition & { _id: string; owner: string; created_at: Date };

/** The definitions that one organization can see, by slug. */
export type Tags = ReadonlyMap<string, TagDefinition>;

/** Reads the definitions that an organization can use, archived ones included; of null: those of the system alone. */
export type ReadTags = (organizationId: string | null) => Promise<Tags>;

/** The owner of what belongs to no organization. */
export const SYSTEM = 'system';

const BUILT_IN: ReadonlyMap<string, TagDefinition> = new Map(
  SYSTEM_TAGS.map((tag) => [tag.slug, { ...tag, organization_id: null, archived_at: null }]),
);

/** The definition of a tag that every installation has; null for any other slug. */
export const builtInTag = (slug: string): TagDefinition | null => BUILT_IN.get(slug) ?? null;

/** A definition as it is stored; its id follows from owner and slug, so that registering it twice stores it once. */
export function tagDefinitionRecord(tag: TagDefinition, now: Date): TagDefinitionRecord {
  const owner = tag.organization_id ?? SYSTEM;
  return { ...tag, _id: `${owner}/${tag.slug}`, owner, created_at: now };
}

/** Built-in definitions and stored ones together, by slug. A slug of the system always means the system's tag. */
export function mergeDefinitions(records: TagDefinitionRecord[]): Tags {
  const [ofSystem, own] = [records.filter(isOfSystem), records.filter((record) => !isOfSystem(record))];
  const stored = ofSystem.map((record) => {
    const builtIn = BUILT_IN.get(record.slug);
    return [record.slug, builtIn ? { ...builtIn, archived_at: record.archived_at } : record] as const;
  });
  return new Map<string, TagDefinition>([...own.map((tag) => [tag.slug, tag] as const), ...BUILT_IN, ...stored]);
}

const isOfSystem = ({ owner }: TagDefinitionRecord): boolean => owner === SYSTEM;

/** The definition of a tag in service; null for an unknown or archived one. */
export function inService(tags: Tags, slug: string): TagDefinition | null {
  const tag = tags.get(slug);
  return tag && tag.archived_at === null ? tag : null;
}
