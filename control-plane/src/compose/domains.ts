import { type AccountsSettings, accountsDomain } from '../accounts/accounts.ts';
import { type AnalysisSettings, analysisDomain } from '../analysis/analysis.ts';
import { type CrawlingSettings, crawlingDomain } from '../crawling/crawling.ts';
import { deliveryDomain } from '../delivery/delivery.ts';
import type { Platform } from '../platform/platform.ts';
import { referenceDomain } from '../reference/reference.ts';
import { scanningDomain } from '../scanning/scanning.ts';

/** Every domain, given what it needs from those below it. Nothing is started yet: roles do that. */
export type Domains = ReturnType<typeof createDomains>;

export function createDomains(platform: Platform, settings: AccountsSettings & CrawlingSettings & AnalysisSettings) {
  const accounts = accountsDomain(platform, settings);
  const reference = referenceDomain(platform);
  const scanning = scanningDomain(platform);
  const leaseCapOf = (organizationId: string) =>
    accounts.quotasOf(organizationId).then(({ concurrent_leases }) => concurrent_leases);
  const allowance = { reserve: accounts.reserve, leaseCapOf };
  const crawling = crawlingDomain(platform, scanning, allowance, settings);
  const known = { readTags: reference.readTags, labelsOf: accounts.labelsOf };
  const analysis = analysisDomain(platform, known, scanning, crawling, settings);
  const delivery = deliveryDomain(
    platform,
    [...scanning.outboxSources, ...accounts.outboxSources],
    accounts.outboxHandlers,
  );
  return { accounts, reference, scanning, crawling, analysis, delivery };
}

/** Creates the indexes of all records; those that are there stay. */
export async function createIndexes(domains: Domains): Promise<void> {
  const stores: { createIndexes(): Promise<void> }[] = Object.values(domains).flatMap((domain) => [...domain.stores]);
  for (const one of stores) await one.createIndexes();
}
