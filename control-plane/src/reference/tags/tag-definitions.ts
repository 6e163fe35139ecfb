import { SYSTEM_TAGS, type SystemTag } from './system-tags.ts';

/** What a tag means; system ones belong to no organization and cannot be changed. */
export type TagDefinition = SystemTag & {
  source: 'system';
  scope: 'system';
  organization_id: null;
  archived_at: Date | null;
};

const DEFINITIONS: ReadonlyMap<string, TagDefinition> = new Map(
  SYSTEM_TAGS.map((tag) => [
    tag.slug,
    { ...tag, source: 'system', scope: 'system', organization_id: null, archived_at: null },
  ]),
);

/** All tag definitions in service, by slug. */
export const tagDefinitions = (): TagDefinition[] => [...DEFINITIONS.values()];

/** The definition of a tag in service; null for an unknown or archived one. */
export const findTagDefinition = (slug: string): TagDefinition | null => DEFINITIONS.get(slug) ?? null;
