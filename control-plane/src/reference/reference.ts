import { firstSecret } from '@adsweep/shared/service/bearer.ts';
import type { Domain } from '../domain.ts';
import type { Platform } from '../platform/platform.ts';
import { catalogueStore } from './catalogue/catalogue-store.ts';
import { catalogueMirror, catalogueReader } from './catalogue/mirror-catalogue.ts';
import { catalogueRoutes } from './catalogue/routes.ts';
import { type TagParts, tagRoutes } from './tags/routes.ts';
import { tagDefinitionStore } from './tags/tag-definition-store.ts';
import { inService } from './tags/tag-definitions.ts';

/** What tag definitions need of the scans that carry a tag, and of the rules that assign it. */
export type ReferenceNeeds = Pick<TagParts, 'countScans' | 'removeTagFromScans' | 'rulesByTag'>;

export type ReferenceSettings = {
  /** The proxy-router's API, whose catalogue is read. */
  proxyUrl: string;
  /** Join tokens of nodes, separated by commas; the first one opens the proxy-router. */
  joinTokens: string;
  catalogueEveryMs: number;
};

export type ReferenceDomain = ReturnType<typeof referenceDomain>;

/** What scans refer to: the catalogue of exits, and the definitions of tags. */
export function referenceDomain(
  { store, metrics, logger }: Pick<Platform, 'store' | 'metrics' | 'logger'>,
  needs: ReferenceNeeds,
  { proxyUrl, joinTokens, catalogueEveryMs }: ReferenceSettings,
) {
  const tags = tagDefinitionStore(store);
  const readTags = tags.visibleTo;
  const fetchCatalogue = catalogueReader(proxyUrl.replace(/\/+$/, ''), firstSecret(joinTokens));
  const refreshed = () => metrics.catalogueRead.set(Date.now() / 1000);
  const catalogue = catalogueMirror(fetchCatalogue, catalogueStore(store), catalogueEveryMs, logger, refreshed);
  return {
    stores: { tags },
    routes: {
      api: [
        ...catalogueRoutes(catalogue.read),
        ...tagRoutes({
          ...needs,
          ...{ readTags, changeTag: tags.change, setTagArchived: tags.setArchived, removeTag: tags.remove },
        }),
      ],
    },
    /** Every role that creates scans starts the mirror: what they ask for is checked against the catalogue. */
    loops: { api: async () => [await catalogue.start()] },
    outboxHandlers: {},
    verbs: {
      readCatalogue: catalogue.read,
      readTags,
      registerTag: tags.register,
      changeTag: tags.change,
      /** Looks up the definitions of the organization's tags that are in service. */
      tagWordsFor: async (organizationId: string) => {
        const known = await readTags(organizationId);
        return (slug: string) => inService(known, slug);
      },
    },
  } satisfies Domain;
}
