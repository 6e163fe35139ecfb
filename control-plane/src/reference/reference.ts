import type { Platform } from '../platform/platform.ts';
import { tagDefinitionStore } from './tags/tag-definition-store.ts';

/** What scans refer to: the definitions of tags. The catalogue is mirrored by the API alone. */
export function referenceDomain({ store }: Pick<Platform, 'store'>) {
  const tags = tagDefinitionStore(store);
  const tagVerbs = {
    readTags: tags.visibleTo,
    registerTag: tags.register,
    changeTag: tags.change,
    setTagArchived: tags.setArchived,
    removeTag: tags.remove,
  };
  return { stores: [tags], tags, tagVerbs, readTags: tags.visibleTo };
}

export type ReferenceDomain = ReturnType<typeof referenceDomain>;
