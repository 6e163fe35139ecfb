import type { Platform } from '../platform/platform.ts';
import { tagDefinitionStore } from './tags/tag-definition-store.ts';

/** What scans refer to: the definitions of tags. The catalogue is mirrored by the API alone. */
export function referenceDomain({ store }: Pick<Platform, 'store'>) {
  const tags = tagDefinitionStore(store);
  return { stores: [tags], tags, readTags: tags.visibleTo };
}

export type ReferenceDomain = ReturnType<typeof referenceDomain>;
