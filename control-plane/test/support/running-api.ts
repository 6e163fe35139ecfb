import { listen } from '@adsweep/shared/service/listen.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { until } from '../../../shared/test/support/until.ts';
import { addOrganization } from '../../src/accounts/add-organization.ts';
import { apiKeyRecord } from '../../src/accounts/keys/api-key.ts';
import { clientApp, clientRoutes, forClients } from '../../src/compose/create-app.ts';
import { readyChecks } from '../../src/compose/readiness.ts';
import { needsOf, startLoops } from '../../src/compose/roles.ts';
import type { Caller, Permission } from '../../src/http/caller.ts';
import { idempotencyStore } from '../../src/http/idempotency-store.ts';
import type { Route } from '../../src/http/route.ts';
import type { ListQuestion, ListWindow } from '../../src/scan/scan-list-store.ts';
import { startCatalogueServer } from './catalogue-server.ts';
import { NODE_TOKEN, openPlane, type PlaneOptions } from './open-plane.ts';
import { CATALOGUE } from './sample-catalogue.ts';

export const KEYS = { ours: 'key-of-our-organization', theirs: 'key-of-their-organization' };
export const ORGANIZATIONS = { ours: 'organization-ours', theirs: 'organization-theirs' };

/** The least body of a scan that is accepted. */
export const PAGE = { url: 'https://shop.example/landing?x=1', country_code: 'US', emulator_id: 'windows_chrome' };

/** The question for all scans, and the first of its rows. */
export const EVERYTHING: ListQuestion = { filter: {}, isCounted: true };
export const FIRST: ListWindow = { after: null, skip: 0, limit: 1 };

export type Answered = { status: number; headers: Headers; body: Json; text: string };
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape is what they test
export type Json = any;

type Sent = { key?: string | null; body?: unknown; raw?: BodyInit; headers?: Record<string, string> };

/** `catalogue`: what the proxy-router has to begin with; null: it is unavailable. */
export type ApiOptions = PlaneOptions & { catalogue?: Catalogue | null };

/** The API of the control plane on a free port, over a store and a Redis of its own, with two organizations. */
export async function runningApi({ catalogue = CATALOGUE, ...options }: ApiOptions = {}) {
  const proxyRouter = await startCatalogueServer(NODE_TOKEN, catalogue);
  const plane = await openPlane({ ...options, settings: { proxyUrl: proxyRouter.url, ...options.settings } });
  const { domains, platform, store, settings } = plane;
  const { accounts, reference, analysis } = domains;
  const { readCatalogue } = reference.verbs;
  for (const who of ['ours', 'theirs'] as const)
    await addOrganization(accounts.stores, { _id: ORGANIZATIONS[who], name: who }, KEYS[who], new Date());
  const loops = await startLoops(domains, ['api']);
  if (catalogue) await until('the catalogue', () => readCatalogue() !== null);

  const ready = readyChecks(platform, needsOf(['api']), () => readCatalogue() !== null, platform.closing);
  const surface = { ...plane, readyChecks: ready, metricsToken: 'metrics-token' };
  const server = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
  const ownUrl = `http://127.0.0.1:${server.port}`;
  const { publicUrl } = settings;
  server.serve(clientApp(surface, { publicUrl, mcpUrl: ownUrl, consoleUrl: ownUrl }).callback());
  const call = callsTo(server.port);

  return {
    ...plane,
    port: server.port,
    accounts: accounts.stores,
    ledger: accounts.stores.ledger,
    audits: accounts.stores.audits,
    scans: domains.scan.stores.scans,
    tags: reference.stores.tags,
    rules: analysis.stores.rules,
    idempotency: idempotencyStore(store),
    routes: clientRoutes(surface, settings.publicUrl),
    call,
    get: (path: string, sent: Sent = {}) => call('GET', path, sent),
    post: (path: string, body?: unknown, sent: Sent = {}) => call('POST', path, { body, ...sent }),

    /** Serves other routes on a port of their own, for the same callers. */
    async serve(routes: Route<Caller>[]) {
      const other = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
      other.serve(forClients(surface, { routes, docs: false }).callback());
      return { call: callsTo(other.port), stop: () => other.close(0) };
    },

    /** Leases every waiting job, once the one with this id waits; their ids. */
    async takeJobs(jobId: string): Promise<string[]> {
      const taken: string[] = [];
      const { queue } = domains.crawling.dependencies;
      await until('the job', async () => {
        taken.push(...(await queue.take('node', 256, 256)).map((one) => one.jobId));
        return taken.includes(jobId);
      });
      return taken;
    },

    /**
     * Has the proxy-router serve another catalogue, and waits until the API has read it: with a short
     * `catalogueEveryMs`.
     */
    async serveCatalogue(served: Catalogue): Promise<void> {
      proxyRouter.serve(served);
      await until('the new catalogue', () => JSON.stringify(readCatalogue()) === JSON.stringify(served));
    },

    /** Makes a key of our organization that may do only this, and answers it. */
    async keyThatMay(...permissions: Permission[]): Promise<string> {
      const key = `key-that-may-${permissions.join('-')}-${crypto.randomUUID()}`;
      const about = { organization_id: ORGANIZATIONS.ours, name: 'test', source: 'api' as const, permissions };
      await accounts.stores.keys.insert(apiKeyRecord(key, about, new Date()));
      return key;
    },

    async stop(): Promise<void> {
      plane.close();
      await server.close(0);
      await Promise.all(loops.map((loop) => loop.stop()));
      proxyRouter.stop();
      await plane.stop();
    },
  };
}

/** Calls of the API with our key unless another is given. */
function callsTo(port: number) {
  return async (method: string, path: string, { key = KEYS.ours, body, raw, headers = {} }: Sent = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      // Tests of their own ask for compressed responses.
      headers: { 'accept-encoding': 'identity', ...(key ? { authorization: `Bearer ${key}` } : {}), ...headers },
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
