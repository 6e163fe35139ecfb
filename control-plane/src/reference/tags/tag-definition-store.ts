import { ApiError } from '../../http/api-error.ts';
import { boundedWrites } from '../../platform/bounded-writes.ts';
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

/** The most tags of one owner, and the most bytes of their texts: all of them are listed together. */
const TAGS_MAX = 2_000;
const TAG_BYTES_MAX = 2 * 1024 * 1024;

/** What the bounds of an owner's tags are counted by: a tag, or several that are being stored. */
type KeptTag = { id: string; tags: number; bytes: number };

const bytesOf = ({ slug, category, display_name, description }: TagDefinition): number =>
  Buffer.byteLength(slug + category + display_name + description);
const ownerOf = ({ organization_id }: Pick<TagDefinition, 'organization_id'>): string => organization_id ?? SYSTEM;
const idOf = (tag: Pick<TagDefinition, 'organization_id' | 'slug'>): string => `${ownerOf(tag)}/${tag.slug}`;

/** The only code that accesses tag definitions. */
export type TagDefinitionStore = ReturnType<typeof tagDefinitionStore>;

export function tagDefinitionStore(store: Store) {
  const definitions: Collection<TagDefinitionRecord> = store.collection<TagDefinitionRecord>('tag_definitions');
  const writeWithin = boundedWrites<KeptTag>(store, 'tag_definitions');

  const kept = async (owner: string): Promise<KeptTag[]> =>
    (await definitions.find({ owner }).toArray()).map((tag) => ({ id: tag._id, tags: 1, bytes: bytesOf(tag) }));

  /** Writes tags of an owner if they fit beside its others; throws 409 if they do not. Several are claimed as one. */
  const writeIfRoom = async (owner: string, tags: TagDefinition[], write: () => Promise<void>): Promise<void> => {
    const ids = new Set(tags.map(idOf));
    const bytes = tags.reduce((sum, tag) => sum + bytesOf(tag), 0);
    const take = (others: KeptTag[]) => {
      const left = others.filter(({ id }) => !ids.has(id));
      const count = left.reduce((sum, other) => sum + other.tags, tags.length);
      if (count > TAGS_MAX || left.reduce((sum, other) => sum + other.bytes, bytes) > TAG_BYTES_MAX)
        throw new ApiError(
          'checking.too_many_tags',
          `There can be at most ${TAGS_MAX} tags with ${TAG_BYTES_MAX} bytes of texts: delete those that you do not need.`,
        );
      return { id: idOf(tags[0]!), tags: tags.length, bytes };
    };
    await writeWithin(owner, { id: idOf(tags[0]!), kept: () => kept(owner), take }, write);
  };

  return {
    async createIndexes(): Promise<void> {
      await definitions.createIndex({ owner: 1, slug: 1 });
    },

    /**
     * The definitions that the organization can use, archived ones included; null: only those of the system. Of stored
     * ones those of `slugs`; absent: all.
     */
    async visibleTo(organizationId: string | null, slugs?: string[]): Promise<Tags> {
      const owners = organizationId === null ? [SYSTEM] : [SYSTEM, organizationId];
      const named = slugs && { slug: { $in: slugs } };
      return mergeDefinitions(await definitions.find({ owner: { $in: owners }, ...named }).toArray());
    },

    /**
     * Stores definitions of one owner, unless it already has one with the slug. Throws 409 if it would have too many.
     */
    async register(tags: TagDefinition[], now: Date): Promise<void> {
      if (tags.length === 0) return;
      await writeIfRoom(ownerOf(tags[0]!), tags, async () => {
        for (const tag of tags) await insertOnce(definitions, tagDefinitionRecord(tag, now));
      });
    },

    /** Changes a stored definition. Throws 409 if its owner's texts would be too large. */
    async change(tag: TagDefinition, change: TagChange): Promise<void> {
      const write = async () => void (await definitions.updateOne({ _id: idOf(tag) }, { $set: change }));
      const changed = { ...tag, ...change };
      // What gets no larger is always accepted, also of an owner that had more before there was this bound.
      if (bytesOf(changed) <= bytesOf(tag)) await write();
      else await writeIfRoom(ownerOf(tag), [changed], write);
    },

    /** Archives a definition at `archived_at`, or restores it (null). */
    async setArchived(tag: TagDefinition, archived_at: Date | null, now: Date): Promise<void> {
      // A built-in tag has no record until it is first archived.
      if (builtInTag(tag.slug)) await insertOnce(definitions, tagDefinitionRecord(tag, now));
      await definitions.updateOne({ _id: idOf(tag) }, { $set: { archived_at } });
    },

    /**
     * Removes a definition that nothing used when its caller looked. What began to use it meanwhile is found by
     * `findUser` after the removal, and returned: the definition is stored again, as it was. null: it is removed.
     */
    async removeUnlessUsed<U>(
      tag: Pick<TagDefinition, 'organization_id' | 'slug'>,
      findUser: () => Promise<U | null>,
    ): Promise<U | null> {
      const removed = await definitions.findOneAndDelete({ _id: idOf(tag) });
      const user = removed && (await findUser());
      if (removed && user !== null) await insertOnce(definitions, removed);
      return user;
    },
  };
}
