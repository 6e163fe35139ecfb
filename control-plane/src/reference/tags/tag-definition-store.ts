import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import {
  builtInTag,
  mergeDefinitions,
  SYSTEM,
  type TagDefinition,
  type TagDefinitionRecord,
  type Tags,
  tagDefinitionRecord,
} from './tag-definitions.ts';

/** The fields that an organization can change in its own tags. */
export type TagChange = Partial<
  Pick<TagDefinition, 'category' | 'severity' | 'visibility' | 'display_name' | 'description'>
>;

/** The only code that accesses tag definitions. */
export type TagDefinitionStore = ReturnType<typeof tagDefinitionStore>;

export function tagDefinitionStore(store: Store) {
  const definitions: Collection<TagDefinitionRecord> = store.collection<TagDefinitionRecord>('tag_definitions');

  return {
    async createIndexes(): Promise<void> {
      await definitions.createIndex({ owner: 1, slug: 1 });
    },

    /** All definitions that the organization can use, archived ones included; null: only those of the system. */
    async visibleTo(organizationId: string | null): Promise<Tags> {
      const owners = organizationId === null ? [SYSTEM] : [SYSTEM, organizationId];
      return mergeDefinitions(await definitions.find({ owner: { $in: owners } }).toArray());
    },

    /** Stores a definition, unless its owner already has one with this slug. */
    async register(tag: TagDefinition, now: Date): Promise<void> {
      await insertOnce(definitions, tagDefinitionRecord(tag, now));
    },

    /** Changes a stored definition. */
    async change({ organization_id, slug }: TagDefinition, change: TagChange): Promise<void> {
      await definitions.updateOne({ _id: `${organization_id ?? SYSTEM}/${slug}` }, { $set: change });
    },

    /** Archives a definition at `archived_at`, or restores it (null). */
    async setArchived(tag: TagDefinition, archived_at: Date | null, now: Date): Promise<void> {
      // A built-in tag has no record until it is first archived.
      if (builtInTag(tag.slug)) await insertOnce(definitions, tagDefinitionRecord(tag, now));
      await definitions.updateOne({ _id: `${tag.organization_id ?? SYSTEM}/${tag.slug}` }, { $set: { archived_at } });
    },

    async remove({ organization_id, slug }: TagDefinition): Promise<void> {
      await definitions.deleteOne({ _id: `${organization_id ?? SYSTEM}/${slug}` });
    },
  };
}
