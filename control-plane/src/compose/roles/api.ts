import { firstSecret } from '@adsweep/shared/service/bearer.ts';
import { splitAddressBlocks } from '@adsweep/shared/urls/address-blocks.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { AnalysisThreads } from '../../analysis/threads/analysis-threads.ts';
import type { Config } from '../../config.ts';
import type { Caller } from '../../http/caller.ts';
import { idempotencyStore } from '../../http/idempotency-store.ts';
import type { Route } from '../../http/route.ts';
import type { Metrics } from '../../metrics.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Loop } from '../../platform/start-loop.ts';
import { catalogueStore } from '../../reference/catalogue/catalogue-store.ts';
import { catalogueReader } from '../../reference/catalogue/fetch-catalogue.ts';
import { type CatalogueMirror, mirrorCatalogue } from '../../reference/catalogue/mirror-catalogue.ts';
import { inService } from '../../reference/tags/tag-definitions.ts';
import { PicturePool } from '../../scanning/artifacts/picture-pool.ts';
import { findNoCampaign } from '../../scanning/scans/request/find-campaign.ts';
import { apiRoutes } from '../api-routes.ts';
import { artifactSource } from '../artifact-source.ts';
import type { Domains } from '../domains.ts';
import type { Need } from '../readiness.ts';
import { reportSources } from '../report-sources.ts';

/** How long a batch of rule tests may take (spec 8). */
const RULE_BATCH_MS = 110_000;

/** Threads for the rules that clients write and try; those of scans have their own. */
const THREADS = 1;

export const API_NEEDS: readonly Need[] = ['store', 'redis', 'catalogue'];

/** The surface for clients and for readers of public reports, with what only it keeps running: the catalogue and resized pictures. */
export type Api = Loop & { routes: Route<Caller>[]; hasCatalogue: () => boolean };

export async function startApi(
  config: Config,
  platform: Platform,
  metrics: Metrics,
  domains: Domains,
  publicUrl: string,
  closing: AbortSignal,
): Promise<Api> {
  const { accounts, reference, scanning, crawling, analysis } = domains;
  const idempotency = idempotencyStore(platform.store);
  await idempotency.createIndexes();
  await accounts.setFirstKey(config.ADSWEEP_API_KEY);
  const catalogue = await mirror(config, platform, metrics);
  const pictures = new PicturePool();
  const threads = new AnalysisThreads(THREADS);

  const routes = apiRoutes({
    scans: scanning.scans,
    idempotency,
    publicUrl,
    log: platform.logger,
    priceOfCheck: (organizationId) => accounts.priceOfCheck(organizationId, config.ADSWEEP_CHECK_PRICE_MICROS),
    reserve: accounts.reserve,
    requireAllowed: accounts.requireAllowed,
    readCatalogue: catalogue.read,
    findCampaign: findNoCampaign,
    addresses: new AddressPolicy(splitAddressBlocks(config.ADSWEEP_DENY_ADDRESSES)),
    enqueue: crawling.enqueue,
    unqueue: crawling.unqueue,
    readEvidence: crawling.evidenceOf,
    watchScan: scanning.watchScan,
    closing,
    ...reference.tagVerbs,
    rules: analysis.rules,
    taxonomies: analysis.taxonomies,
    problemsOf: (patterns) => threads.problemsOf(patterns),
    ruleTests: {
      ...{ evidence: crawling.dependencies, findScan: scanning.scans.find, readTags: reference.readTags, threads },
      ...{ claims: analysis.batchClaims, limits: { ruleMs: config.ADSWEEP_RULE_BUDGET_MS, batchMs: RULE_BATCH_MS } },
      model: analysis.model,
    },
    rulesByTag: analysis.rulesByTag,
    countScans: scanning.scans.countWithTag,
    removeTagFromScans: scanning.scans.removeTag,
    tagWordsFor: async (organizationId) => {
      const known = await reference.readTags(organizationId);
      return (slug) => inService(known, slug);
    },
    outboxFilled: () => platform.wake.announce('outbox'),
    checksWaiting: () => platform.wake.announce('checks'),
    submitted: () => metrics.submitted.inc(),
    artifacts: artifactSource(scanning.scans, crawling),
    readLedger: accounts.readLedger,
    readUsage: accounts.readUsage,
    readBilling: (organizationId, now) => accounts.readBilling(organizationId, config.ADSWEEP_CHECK_PRICE_MICROS, now),
    countRechecks: accounts.countRechecks,
    readAuditLog: accounts.readAuditLog,
    isActive: accounts.isActive,
    keys: accounts.keys,
    organizations: accounts.organizations,
    addOrganization: accounts.addOrganization,
    pictures,
    blockNode: crawling.blockNode,
    unblockNode: crawling.unblockNode,
    drainNode: crawling.drainNode,
    undrainNode: crawling.undrainNode,
    readFleet: crawling.readFleet,
    readLoad: crawling.readLoad,
    reports: reportSources(scanning.scans, crawling, reference.readTags, pictures, config.ADSWEEP_DATA_DIR, publicUrl),
  });
  return {
    routes,
    hasCatalogue: () => catalogue.read() !== null,
    stop: async () =>
      void (await Promise.all([pictures.close(), threads.close(), analysis.model?.close(), catalogue.stop()])),
  };
}

function mirror(config: Config, { store, logger }: Platform, metrics: Metrics): Promise<CatalogueMirror> {
  const proxyUrl = config.ADSWEEP_PROXY_URL.replace(/\/+$/, '');
  const fetchIt = catalogueReader(proxyUrl, firstSecret(config.ADSWEEP_NODE_TOKEN));
  const refreshed = () => metrics.catalogueRead.set(Date.now() / 1000);
  return mirrorCatalogue(fetchIt, catalogueStore(store), config.ADSWEEP_CATALOGUE_SECONDS * 1000, logger, refreshed);
}
