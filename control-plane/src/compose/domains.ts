import { type AccountsSettings, accountsDomain } from '../accounts/accounts.ts';
import { type AnalysisDomain, type AnalysisSettings, analysisDomain } from '../analysis/analysis.ts';
import { sessionStore } from '../console/session/session-store.ts';
import { type CrawlingDomain, type CrawlingSettings, crawlingDomain } from '../crawling/crawling.ts';
import { type DeliveryDomain, type DeliverySettings, deliveryDomain } from '../delivery/delivery.ts';
import type { Domain, DomainStore } from '../domain.ts';
import { type FormSettings, formsDomain } from '../forms/forms.ts';
import { idempotencyStore } from '../http/idempotency-store.ts';
import type { Platform } from '../platform/platform.ts';
import { type ReferenceSettings, referenceDomain } from '../reference/reference.ts';
import { scanDomain } from '../scan/scan-domain.ts';
import { type CampaignsDomain, campaignsDomain } from '../scanning/campaigns.ts';
import { type ScanningSettings, scanningDomain } from '../scanning/scanning.ts';

export type Settings = AccountsSettings &
  FormSettings &
  ReferenceSettings &
  ScanningSettings &
  CrawlingSettings &
  AnalysisSettings &
  DeliverySettings;

/** Every domain, from the lowest to the highest. Nothing is started yet. */
export type Domains = ReturnType<typeof createDomains>;

/**
 * Creates every domain with what it needs of the others: verbs of lower domains, and questions to higher ones, asked
 * later.
 */
export function createDomains(platform: Platform, settings: Settings) {
  const scan = scanDomain(platform);
  const { scans } = scan.stores;
  const accounts = accountsDomain(
    platform,
    { countReserved: scans.countReserved, isCreatingRun: (...run) => campaigns.verbs.isCreatingRun(...run) },
    settings,
  );
  const reference = referenceDomain(
    platform,
    {
      countScans: scans.countWithTag,
      removeTagFromScans: scans.removeTag,
      rulesByTag: (...of) => analysis.verbs.rulesByTag(...of),
      comboNeeding: (...tag) => analysis.verbs.comboNeeding(...tag),
      policySetNaming: (...tag) => analysis.verbs.policySetNaming(...tag),
    },
    settings,
  );
  const scanning = scanningDomain(
    platform,
    {
      ...scan.stores,
      ...scan.verbs,
      ...accounts.verbs,
      ...reference.verbs,
      enqueue: (pending) => crawling.verbs.enqueue(pending),
      unqueue: (cancelled) => crawling.verbs.unqueue(cancelled),
      evidenceOf: (one) => crawling.verbs.evidenceOf(one),
      findPicture: (one, of) => crawling.verbs.findPicture(one, of),
      findFile: (one, name) => crawling.verbs.findFile(one, name),
      findCampaign: (...named) => campaigns.verbs.findCampaign(...named),
      joinRun: (...campaign) => campaigns.verbs.joinRun(...campaign),
      isRunCancelled: (...run) => campaigns.verbs.isRunCancelled(...run),
      campaignWordsOf: (...ids) => campaigns.verbs.campaignWordsOf(...ids),
      campaignsInGroup: (...group) => campaigns.verbs.campaignsInGroup(...group),
      // A recheck is free of charge, but what it asks the model costs the operator money.
      requireRecheckable: settings.model ? accounts.verbs.requireSolvent : accounts.verbs.priceOfCheck,
    },
    settings,
  );
  const campaigns: CampaignsDomain = campaignsDomain(
    platform,
    {
      ...scan.stores,
      ...accounts.verbs,
      ...scanning.verbs,
      unqueue: (cancelled) => crawling.verbs.unqueue(cancelled),
      findUnknownDestinations: (organizationId, ids) => delivery.verbs.findUnknownDestinations(organizationId, ids),
      hasPolicySet: (...named) => analysis.verbs.hasPolicySet(...named),
      isPolicySetGone: (...named) => analysis.verbs.isPolicySetGone(...named),
      defaultPolicySet: (organizationId) => analysis.verbs.defaultPolicySet(organizationId),
    },
    settings,
  );
  const leaseCapOf = (organizationId: string) =>
    accounts.verbs.quotasOf(organizationId).then(({ concurrent_leases }) => concurrent_leases);
  const crawling: CrawlingDomain = crawlingDomain(
    platform,
    { ...scan.stores, ...scanning.stores, ...accounts.verbs, leaseCapOf },
    settings,
  );
  const analysis: AnalysisDomain = analysisDomain(
    platform,
    { ...scan.stores, ...accounts.verbs, ...reference.verbs, ...crawling.verbs, ...campaigns.verbs },
    settings,
  );
  const delivery: DeliveryDomain = deliveryDomain(
    platform,
    {
      sources: outboxesOf([scan, scanning, accounts, reference, crawling, analysis]),
      handlers: accounts.outboxHandlers,
      ...reference.verbs,
      ...campaigns.verbs,
      ...scanning.verbs,
      policySetNames: analysis.verbs.policySetNames,
      contactEmailsOf: accounts.verbs.contactEmailsOf,
      storedPerDay: accounts.verbs.storedPerDay,
    },
    settings,
  );
  const forms = formsDomain(platform, settings);
  return { scan, accounts, forms, reference, scanning, campaigns, crawling, analysis, delivery };
}

const storesOf = (domains: Pick<Domain, 'stores'>[]): DomainStore[] =>
  domains.flatMap(({ stores }) => Object.values(stores));

const outboxesOf = (domains: Pick<Domain, 'stores'>[]) =>
  storesOf(domains).flatMap(({ outbox }) => (outbox ? [outbox] : []));

/** Creates the indexes of all records; those that exist stay. */
export async function createIndexes({ store }: Pick<Platform, 'store'>, domains: Domains): Promise<void> {
  const others = [idempotencyStore(store), sessionStore(store)];
  for (const one of [...storesOf(Object.values(domains)), ...others]) await one.createIndexes();
}
