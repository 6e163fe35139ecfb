import { firstSecret } from '@adsweep/shared/service/bearer.ts';
import type { Domain } from '../domain.ts';
import type { Platform } from '../platform/platform.ts';
import { catalogueStore } from './catalogue/catalogue-store.ts';
import { catalogueMirror, catalogueReader } from './catalogue/mirror-catalogue.ts';
import { catalogueRoutes } from './catalogue/routes.ts';
import { type TagParts, tagRoutes } from './tags/routes.ts';
import { tagDefinitionStore } from './tags/tag-definition-store.ts';
import { inService, visibleTags } from './tags/tag-definitions.ts';

/** Functions of other domains that tag definitions need: about the scans with a tag, and the rules that assign it. */
export type ReferenceNeeds = Pick<
  TagParts,
  'countScans' | 'removeTagFromScans' | 'rulesByTag' | 'comboNeeding' | 'policySetNaming'
>;

export type ReferenceSettings = {
  /** Base URL of the proxy-router's API, which provides the catalogue. */
  proxyUrl: string;
  /** Join tokens of nodes, separated by commas; the first one is the credential for the proxy-router. */
  joinTokens: string;
  catalogueEveryMs: number;
};

export type ReferenceDomain = ReturnType<typeof referenceDomain>;

/** Reference data of scans: the targeting catalogue, and the definitions of tags. */
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
          readTags,
          changeTag: tags.change,
          setTagArchived: tags.setArchived,
          removeTagUnlessUsed: tags.removeUnlessUsed,
        }),
      ],
    },
    /** Every role that creates scans mirrors the catalogue: their targeting is checked against it. */
    loops: { api: async () => [await catalogue.start()], scheduler: async () => [await catalogue.start()] },
    outboxHandlers: {},
    verbs: {
      readCatalogue: catalogue.read,
      readTags,
      registerTags: tags.register,
      changeTag: tags.change,
      removeTagUnlessUsed: tags.removeUnlessUsed,
      /**
       * Returns a function that finds the definition of a tag by its slug, one of `slugs` if there are any; null for an
       * unknown or archived one, and unless `seesHidden` for a hidden one of the platform.
       */
      tagWordsFor: async (organizationId: string, slugs?: string[], seesHidden = false) => {
        const tags = await readTags(organizationId, slugs);
        const known = seesHidden ? tags : visibleTags(tags);
        return (slug: string) => inService(known, slug);
      },
    },
  } satisfies Domain;
}
