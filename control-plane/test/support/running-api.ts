import { listen } from '@adsweep/shared/service/listen.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { addOrganization } from '../../src/accounts/add-organization.ts';
import { type AuditParts, auditRoutes } from '../../src/accounts/audit/audit-routes.ts';
import { auditStore } from '../../src/accounts/audit/audit-store.ts';
import { readBilling } from '../../src/accounts/billing/billing.ts';
import { billingRoutes, type ReadLedger } from '../../src/accounts/billing/ledger-routes.ts';
import { ledgerStore } from '../../src/accounts/billing/ledger-store.ts';
import { openAllowances } from '../../src/accounts/billing/open-allowances.ts';
import { recheckStore } from '../../src/accounts/billing/recheck-store.ts';
import { usageByDay } from '../../src/accounts/billing/usage-by-day.ts';
import { type UsageParts, usageRoutes } from '../../src/accounts/billing/usage-routes.ts';
import { apiKeyRecord, findCaller, isStillValid } from '../../src/accounts/keys/api-key.ts';
import { type KeyParts, keyRoutes } from '../../src/accounts/keys/key-routes.ts';
import { keyStore } from '../../src/accounts/keys/key-store.ts';
import { type RoleParts, roleRoutes } from '../../src/accounts/keys/role-routes.ts';
import { type AccountParts, accountRoutes } from '../../src/accounts/organizations/account-routes.ts';
import { NO_QUOTAS, priceOfCheck } from '../../src/accounts/organizations/organization.ts';
import { type OrganizationParts, organizationRoutes } from '../../src/accounts/organizations/organization-routes.ts';
import { organizationStore } from '../../src/accounts/organizations/organization-store.ts';
import { limitRequests } from '../../src/accounts/rate-limit/limit-requests.ts';
import { ruleRoutes } from '../../src/analysis/rules/routes.ts';
import { ruleStore } from '../../src/analysis/rules/rule-store.ts';
import { batchClaimStore } from '../../src/analysis/rules/rule-tests/batch-claim-store.ts';
import { type RuleTestRouteParts, ruleTestRoutes } from '../../src/analysis/rules/rule-tests/routes.ts';
import type { RuleVerbParts } from '../../src/analysis/rules/rule-verbs.ts';
import { rulesByTag } from '../../src/analysis/rules/rules-by-tag.ts';
import { type TaxonomyParts, taxonomyRoutes } from '../../src/analysis/taxonomies/routes.ts';
import { taxonomyStore } from '../../src/analysis/taxonomies/taxonomy-store.ts';
import { AnalysisThreads } from '../../src/analysis/threads/analysis-threads.ts';
import { type ApiRouteParts, apiRoutes } from '../../src/compose/api-routes.ts';
import { createApp } from '../../src/compose/create-app.ts';
import { type FleetVerbs, fleetRoutes } from '../../src/crawling/fleet/fleet-routes.ts';
import { authenticate, type Permission } from '../../src/http/caller.ts';
import { idempotencyStore } from '../../src/http/idempotency-store.ts';
import { createMetrics, workMetrics } from '../../src/metrics.ts';
import { processBroadcast } from '../../src/platform/broadcast.ts';
import { openStore, type Store } from '../../src/platform/store.ts';
import { catalogueRoutes } from '../../src/reference/catalogue/routes.ts';
import { type TagParts, tagRoutes } from '../../src/reference/tags/routes.ts';
import { tagDefinitionStore } from '../../src/reference/tags/tag-definition-store.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import type { ListQuestion, ListWindow } from '../../src/scan/scan-list-store.ts';
import { stateOf } from '../../src/scan/scan-state.ts';
import { scanStore } from '../../src/scan/scan-store.ts';
import { stateBroadcast } from '../../src/scan/state-broadcast.ts';
import { PicturePool } from '../../src/scanning/artifacts/picture-pool.ts';
import { type ArtifactSource, artifactRoutes } from '../../src/scanning/artifacts/routes.ts';
import { type ReportSources, reportRoutes } from '../../src/scanning/reports/routes.ts';
import { NO_SCAN_EVIDENCE } from '../../src/scanning/scans/api/evidence.ts';
import { type ScanParts, scanRoutes } from '../../src/scanning/scans/api/routes.ts';
import { emptySurroundings, packedSources } from './surroundings.ts';

export const PUBLIC_URL = 'https://adsweep.example';
export const PRICE_MICROS = 10_000;
export const KEYS = { ours: 'key-of-our-organization', theirs: 'key-of-their-organization' };
export const ORGANIZATIONS = { ours: 'organization-ours', theirs: 'organization-theirs' };

const CATALOGUE_READ_AT = '2026-01-02T03:04:05.000Z';

/** Two countries; the United States have both pools, Portugal has no mobile one. */
export const CATALOGUE: Catalogue = {
  refreshed_at: CATALOGUE_READ_AT,
  pools: [
    {
      country_code: 'US',
      proxy_type: 'residential',
      regions: ['California', 'Texas', 'New York', 'Florida', 'Ohio', 'Nevada'],
      cities: ['Los Angeles', 'Houston', 'New York City'],
      isps: ['Comcast', 'Verizon Fios'],
      cities_by_region: { California: ['Los Angeles'], Texas: ['Houston'], 'New York': ['New York City'] },
      refreshed_at: CATALOGUE_READ_AT,
    },
    {
      country_code: 'US',
      proxy_type: 'mobile',
      regions: ['California'],
      cities: ['Los Angeles'],
      isps: ['T-Mobile'],
      cities_by_region: { California: ['Los Angeles'] },
      refreshed_at: CATALOGUE_READ_AT,
    },
    {
      country_code: 'PT',
      proxy_type: 'residential',
      regions: ['Lisboa'],
      cities: ['Lisboa', 'Sintra'],
      isps: ['MEO'],
      cities_by_region: { Lisboa: ['Lisboa', 'Sintra'] },
      refreshed_at: CATALOGUE_READ_AT,
    },
  ],
};

/** The least body of a scan that is accepted. */
export const PAGE = { url: 'https://shop.example/landing?x=1', country_code: 'US', emulator_id: 'windows_chrome' };

/** The question for all scans, and the first of its rows. */
export const EVERYTHING: ListQuestion = { filter: {}, isCounted: true };
export const FIRST: ListWindow = { after: null, skip: 0, limit: 1 };

export type Answered = { status: number; headers: Headers; body: Json; text: string };
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape is what they test
export type Json = any;

type Sent = { key?: string | null; body?: unknown; raw?: BodyInit; headers?: Record<string, string> };

/** The API of the control plane on a free port, over a store of its own, with two organizations. */
export async function runningApi(
  open: () => Promise<Store> = () => openStore({ path: ':memory:' }),
  startBalanceMicros: number | null = null,
) {
  const store = await open();
  const [states, closing] = [stateBroadcast(processBroadcast()), new AbortController()];
  const stores = await openStores(store, (scan) => states.announce(stateOf(scan)));
  const { scans, ledger, rechecks, audits, accounts, idempotency, tags, rules } = stores;
  const enqueued: ScanRecord[] = [];
  const pictures = new PicturePool();
  const threads = new AnalysisThreads(1);
  const around = emptySurroundings(CATALOGUE, enqueued, scans.find, (patterns) => threads.problemsOf(patterns));
  const metrics = createMetrics();
  const submittedScans = workMetrics(metrics.registry);
  const logger = createLogger('test', 'silent');
  const quotasOf = async (id: string) => (await accounts.organizations.find(id))?.quotas ?? NO_QUOTAS;
  const allowance = openAllowances({ store, ledger, quotasOf, startBalanceMicros });
  const parts: ApiParts = {
    scans,
    idempotency,
    readCatalogue: () => around.catalogue,
    findCampaign: (...of) => around.findCampaign(...of),
    addresses: new AddressPolicy(['198.41.0.0/24', '2a02:500::/32'], () => ['198.41.9.9', '2a02:900::9']),
    enqueue: (scans) => around.enqueue(scans),
    unqueue: async () => {},
    readEvidence: async () => around.evidence,
    tagWordsFor: (organizationId) => around.tagWordsFor(organizationId),
    readTags: tags.visibleTo,
    registerTag: tags.register,
    changeTag: tags.change,
    setTagArchived: tags.setArchived,
    removeTag: tags.remove,
    rules,
    taxonomies: taxonomyStore(store),
    problemsOf: (patterns) => around.problemsOf(patterns),
    ruleTests: {
      ...{
        evidence: packedSources(around),
        findScan: (...of) => around.findTestedScan(...of),
        readTags: tags.visibleTo,
      },
      ...{ threads, claims: batchClaimStore(store), limits: around.ruleTestLimits },
      get model() {
        return around.model;
      },
    },
    rulesByTag: (organizationId) => rulesByTag(rules, organizationId),
    countScans: scans.countWithTag,
    removeTagFromScans: scans.removeTag,
    submitted: () => submittedScans.submitted.inc(),
    watchScan: states.watch,
    isStillValid: (caller) => isStillValid(accounts.keys, caller, new Date()),
    revoked: () => {},
    closing: closing.signal,
    outboxFilled: () => {},
    checksWaiting: () => {},
    reports: {
      publicUrl: PUBLIC_URL,
      findDemoReport: async () => around.demoReport,
      findByReportToken: async () => null,
      evidenceOf: async () => NO_SCAN_EVIDENCE,
      answerPicture: async () => ({ status: 404 }),
      tagWordsFor: async () => () => null,
    },
    artifacts: { openPicture: (...of) => around.picture(...of), findFile: (...of) => around.file(...of) },
    pictures,
    readLedger: ledger.list,
    readUsage: (organizationId, period) => usageByDay(ledger, organizationId, period),
    readBilling: (organizationId, now) =>
      readBilling(
        { find: accounts.organizations.find, readAllowance: allowance.read },
        organizationId,
        PRICE_MICROS,
        now,
      ),
    countRechecks: rechecks.count,
    readAuditLog: audits.list,
    isActive: async (id) => (await accounts.organizations.find(id))?.status === 'active',
    keys: accounts.keys,
    organizations: accounts.organizations,
    addOrganization: (organization, { key, expiresAt }, audit) =>
      addOrganization(accounts, organization, key, new Date(), { expiresAt, follows: [audit] }),
    blockNode: (nodeId) => around.fleet('block', nodeId),
    unblockNode: (nodeId) => around.fleet('unblock', nodeId),
    drainNode: (nodeId) => around.fleet('drain', nodeId),
    undrainNode: (nodeId) => around.fleet('undrain', nodeId),
    readFleet: () => around.readFleet(),
    readLoad: async () => around.load,
    publicUrl: PUBLIC_URL,
    reserve: allowance.reserve,
    requireAllowed: allowance.requireAllowed,
    priceOfCheck: (organizationId) => priceOfCheck(accounts.organizations, organizationId, PRICE_MICROS),
    log: logger,
  };
  const routes = apiRoutes(routesOf(parts), parts);
  const find = limitRequests({
    findCaller: (key) => findCaller(accounts.keys, key, new Date()),
    quotasOf,
    countRequest: (organizationId) => around.countRequest(organizationId),
  });
  const app = createApp({
    routes,
    admit: (authorization, permission, _params, setHeaders) =>
      authenticate(find, authorization, permission, setHeaders),
    readyChecks: [['surroundings', () => Promise.all(around.readyChecks.map(([, check]) => check())).then(() => {})]],
    registry: metrics.registry,
    metricsToken: 'metrics-token',
    logger,
    seen: metrics.seen('api'),
    docs: true,
  });
  const server = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
  server.serve(app.callback());

  const call = callsTo(server.port);

  return {
    port: server.port,
    store,
    accounts,
    scans,
    tags,
    rules,
    ledger,
    allowance,
    audits,
    idempotency,
    routes,
    around,
    enqueued,
    call,
    get: (path: string, sent: Sent = {}) => call('GET', path, sent),
    post: (path: string, body?: unknown, sent: Sent = {}) => call('POST', path, { body, ...sent }),
    /** Makes a key of our organization that may do only this, and answers it. */
    async keyThatMay(...permissions: Permission[]): Promise<string> {
      const key = `key-that-may-${permissions.join('-')}-${crypto.randomUUID()}`;
      await accounts.keys.insert(
        apiKeyRecord(
          key,
          { organization_id: ORGANIZATIONS.ours, name: 'test', source: 'api', permissions },
          new Date(),
        ),
      );
      return key;
    },
    async stop(): Promise<void> {
      closing.abort();
      await server.close(0);
      await pictures.close();
      await threads.close();
      await store.close();
    },
  };
}

type ApiParts = ScanParts &
  TagParts &
  RuleVerbParts &
  RuleTestRouteParts &
  TaxonomyParts &
  FleetVerbs &
  KeyParts &
  OrganizationParts &
  AccountParts &
  RoleParts &
  AuditParts &
  UsageParts &
  ApiRouteParts & {
    artifacts: ArtifactSource;
    pictures: PicturePool;
    readLedger: ReadLedger;
    reports: ReportSources;
  };

const routesOf = (parts: ApiParts) => [
  ...scanRoutes(parts),
  ...artifactRoutes(parts.artifacts, parts.pictures),
  ...catalogueRoutes(parts.readCatalogue),
  ...tagRoutes(parts),
  ...accountRoutes(parts),
  ...keyRoutes(parts),
  ...roleRoutes(parts),
  ...auditRoutes(parts),
  ...ruleRoutes(parts),
  ...ruleTestRoutes(parts),
  ...taxonomyRoutes(parts),
  ...organizationRoutes(parts),
  ...usageRoutes(parts),
  ...billingRoutes(parts.readLedger),
  ...fleetRoutes(parts),
  ...reportRoutes(parts.reports),
];

/** The stores that the API asks, with two organizations in them. */
async function openStores(store: Store, changed: (scan: ScanRecord) => void) {
  const scans = scanStore(store, changed);
  const [ledger, rechecks, audits] = [ledgerStore(store), recheckStore(store), auditStore(store)];
  const accounts = { organizations: organizationStore(store), keys: keyStore(store) };
  const [idempotency, tags, rules] = [idempotencyStore(store), tagDefinitionStore(store), ruleStore(store)];
  for (const one of [accounts.keys, accounts.organizations, scans, ledger, idempotency, tags, rules])
    await one.createIndexes();
  for (const who of ['ours', 'theirs'] as const)
    await addOrganization(accounts, { _id: ORGANIZATIONS[who], name: who }, KEYS[who], new Date());
  return { scans, ledger, rechecks, audits, accounts, idempotency, tags, rules };
}

/** Calls of the API with our key unless another is given. */
function callsTo(port: number) {
  return async (method: string, path: string, { key = KEYS.ours, body, raw, headers = {} }: Sent = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...(key ? { authorization: `Bearer ${key}` } : {}), ...headers },
      ...(body === undefined && raw === undefined ? {} : { body: raw ?? JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : null } as Answered;
  };
}

export type RunningApi = Awaited<ReturnType<typeof runningApi>>;

/** The items of a 422 as `loc` (joined with dots) and `type`, in their order. */
export function itemsOf(answer: Answered): string[] {
  return answer.body.detail.map(
    ({ loc, type }: { loc: (string | number)[]; type: string }) => `${loc.join('.')} ${type}`,
  );
}
