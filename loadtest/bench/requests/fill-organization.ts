import { join } from 'node:path';
import { emptyCapture } from '@adsweep/shared/capture/capture.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { LeaseClient, NodeApiError } from '@adsweep/shared/lease/client.ts';
import { CAPTURE_REQUESTS_BYTES_MAX, CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import type { FormSubmission } from '../../../control-plane/src/forms/form-submission.ts';
import { openStore, type Store } from '../../../control-plane/src/platform/store.ts';
import { filterKeysOf } from '../../../control-plane/src/scan/filter-keys.ts';
import type { StoredScan } from '../../../control-plane/src/scan/stored-scan.ts';
import { type Call, type FieldValues, fillResources } from './fill-resources.ts';
import type { BenchRoute } from './route-table.ts';
import { storedScan } from './stored-scans.ts';

const RULE_BYTES = 8_000;
const AI_CHANGES = 50;
/** How the slugs of tags begin that the large scans get. */
const EVERY_HOP = 'every-hop-';
const DELETED_TAXONOMIES = 60;
const WRITTEN_AT_ONCE = 8;
/** The control plane keeps 1,000, those of the benchmark included. */
const NODES = 984;
/** Forms that a website sent. */
const FORMS = 20_000;
/** Scans with the longest chains and findings, and scans with the longest URL. */
const LARGE_SCANS = 120;
const LONG_URLS = 120;
const LOADED_SCANS = 3;
const INSERTED_AT_ONCE = 5_000;

const filler = (length: number): string => 'x'.repeat(length);

/** Calls `make` with 0, 1, ... until `most`, or until an answer is no success. */
async function repeat(most: number, make: (at: number) => Promise<{ status: number }>): Promise<void> {
  for (let at = 0; at < most; at += WRITTEN_AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: WRITTEN_AT_ONCE }, (_, more) => make(at + more)));
    if (answers.some(({ status }) => status >= 300)) return;
  }
}

/** Rules that match every hop until there is no room for more, and AI rules of which each change names other tags. */
async function fillRules(call: Call): Promise<void> {
  const path = '/api/v1/custom-rules';
  const tags = (of: string) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`ai-${of}-${at}`, filler(500)]));
  for (let rule = 0; rule < 10; rule += 1) {
    const config = { prompt: filler(4_000), tags: tags(`${rule}`) };
    const { body } = await call('POST', path, { name: filler(200), rule_type: 'llm', config });
    for (let change = 0; change < AI_CHANGES / 10; change += 1)
      await call('PUT', `${path}/${body.id}`, { config: { ...config, tags: tags(`${rule}-${change}`) } });
  }
  await repeat(1_000, (at) => {
    const contains = [
      'https',
      ...Array.from({ length: RULE_BYTES / 500 }, (_, word) => `${at}-${word}-${filler(480)}`),
    ];
    const named = { name: `${at} ${filler(190)}`, tag_slug: `${EVERY_HOP}${at}` };
    return call('POST', path, { ...named, rule_type: 'stopword_url', config: { contains } });
  });
}

/** Taxonomies until there is no room for more, and many that were deleted. */
async function fillTaxonomies(call: Call): Promise<void> {
  const path = '/api/v1/custom-taxonomies';
  const nodes = Array.from({ length: 300 }, (_, at) => ({
    ...{ client_id: `${at}`, name: `${at}`.padEnd(100, 'x'), description: filler(200) },
  }));
  const taxonomy = (at: number) => ({ name: `${at}`.padEnd(100, 'x'), description: filler(500), nodes });
  await repeat(DELETED_TAXONOMIES, async (at) => {
    const { status, body } = await call('POST', path, taxonomy(at));
    return status < 300 ? call('DELETE', `${path}/${body.id}`) : { status: 201 };
  });
  await repeat(10, (at) => call('POST', path, taxonomy(at)));
}

/** A policy set that names every tag that the large scans get; its id. */
async function fillPolicies(call: Call): Promise<string> {
  const { body: tags } = await call('GET', '/api/v1/tag-definitions');
  const ofScans = tags.filter(({ slug }: { slug: string }) => slug.startsWith(EVERY_HOP)).slice(0, 500);
  const entries = ofScans.map(({ slug }: { slug: string }) => ({ tag_slug: slug }));
  const { body } = await call('POST', '/api/v1/policy-sets', { name: 'Everything', entries });
  return body.id;
}

/** Ids and codes that exist, by the fields of bodies that name them. */
async function existingValues(call: Call): Promise<FieldValues> {
  const read = async (path: string, field: string): Promise<string[]> => {
    const { body } = await call('GET', path);
    return (body.items ?? body).map((row: Record<string, string>) => row[field]!);
  };
  const [countries, devices, tags, campaigns] = await Promise.all([
    read('/api/v1/geos', 'code'),
    read('/api/v1/emulators', 'id'),
    read('/api/v1/tag-definitions', 'slug'),
    read('/api/v1/campaigns?limit=200', 'id'),
  ]);
  return {
    ...{ country_codes: countries, emulator_specific_ids: devices, tag_slug: tags },
    ...(campaigns.length > 0 && { campaign_ids: campaigns }),
  };
}

const TARGET = { country_code: 'US', emulator_id: 'windows_chrome' };

/** The capture of a page that went through as many tabs and long hops as a node may report. */
function longestCapture() {
  const hops = Math.floor(CAPTURE_REQUESTS_BYTES_MAX / CAPTURE_URL_LENGTH_MAX / 10 / 2);
  const url = (at: number) => `https://hop-${at}.example/`.padEnd(CAPTURE_URL_LENGTH_MAX, 'x');
  const landing = (ord: number) => ({
    ...{ ord, opener_url: '', final_url: url(ord), page_title: filler(1_000), site_name: '', screenshot: null },
    redirect_chain: Array.from({ length: hops }, (_, at) => ({
      ...{ url: url(ord * 1_000 + at), kind: 'http' as const, status_code: 302, content_type: 'text/html' },
      ...{ body_size: 1, timestamp_ms: at, redirected_from: at === 0 ? '' : url(ord * 1_000 + at - 1) },
    })),
    ...{ opened_at_ms: 0, elapsed_ms: 0 },
  });
  const browser = { name: 'Chromium', version: '1' };
  const about = emptyCapture({ started_at: '2026-01-02T03:04:05.000Z', elapsed_ms: 1, browser });
  return { ...about, landings: Array.from({ length: 10 }, (_, ord) => landing(ord)) };
}

/** Delivers the captures of scans as a node does. */
export async function startFiller(nodeApiUrl: string, joinToken: string): Promise<LeaseClient> {
  const node = new LeaseClient(nodeApiUrl, joinToken);
  const report = { slots: 8, busy: 0, draining: false, adsweep_version: 'bench', browser_version: 'none' };
  await node.report('filler', report);
  return node;
}

/** A scan with the longest capture, which is judged by all rules; its id. */
export async function loadScan(call: Call, node: LeaseClient, campaign_id: string | null = null): Promise<string> {
  const labels = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`label_${at}`, filler(255)]));
  const { body } = await call('POST', '/api/v1/scans', {
    ...TARGET,
    url: 'https://shop.example/',
    labels,
    campaign_id,
  });
  const { leases } = await node.acquire({ node_id: 'filler', max: 1, wait_ms: 10_000 });
  if (!leases[0]) throw new Error('there was no lease');
  await node.complete({ ...leases[0], scan_id: body.id }, longestCapture());
  for (;;) {
    const { body: scan } = await call('GET', `/api/v1/scans/${body.id}`);
    if (['completed', 'partial', 'failed'].includes(scan.status)) return body.id;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Nearly as many nodes as are kept. Returns a function by which each reports as much as it may. */
export function openFleet(nodeApiUrl: string, joinToken: string): () => Promise<void> {
  const labels = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`label_${at}`, filler(60)]));
  const report = { slots: 8, busy: 0, draining: false, adsweep_version: 'bench', browser_version: 'none', labels };
  const nodes = Array.from({ length: NODES }, () => new LeaseClient(nodeApiUrl, joinToken));
  return () =>
    repeat(NODES, async (at) => {
      await nodes[at]!.report(`node-${at}`, report).catch((error: unknown) => {
        // A measured operation blocks one.
        if (!(error instanceof NodeApiError) || error.code !== 'node.blocked') throw error;
      });
      return { status: 204 };
    });
}

/** What `fillByApi` made. */
export type Filled = { scans: string[]; campaigns: string[] };

/**
 * Fills the organization of `call` with what the API accepts: by hand where a body has to fit others (rules, taxonomies, a policy set for every
 * campaign), else from the route table. `asOperator`: the call of who makes organizations.
 */
export async function fillByApi(
  call: Call,
  asOperator: Call,
  routes: BenchRoute[],
  nodeApiUrl: string,
  joinToken: string,
): Promise<Filled> {
  await fillRules(call);
  await fillTaxonomies(call);
  const policySet = await fillPolicies(call);
  const callFor = ({ permission }: BenchRoute) => (permission === 'organizations.manage' ? asOperator : call);
  const made = await fillResources(routes, callFor, () => existingValues(call));
  for (const [path, count] of Object.entries(made)) console.log(`${count} of ${path}`);
  const campaigns: string[] = (await call('GET', '/api/v1/campaigns?limit=200')).body.items.map(
    ({ id }: { id: string }) => id,
  );
  await call('POST', `/api/v1/policy-sets/${policySet}/campaigns/attach`, { campaign_ids: campaigns.slice(0, 10) });
  const node = await startFiller(nodeApiUrl, joinToken);
  const scans: string[] = [];
  for (let at = 0; at < LOADED_SCANS; at += 1) scans.push(await loadScan(call, node, campaigns[0]));
  return { scans, campaigns };
}

/** Copies that months would have made of each of an organization's records, by the collection. */
const GROWN: Record<string, number> = {
  ...{ alerts: 20_000, runs: 2_000, webhook_attempts: 20_000, webhook_deliveries: 20_000, audit_log: 20_000 },
};
/** A record whose outbox was carried out long ago. */
function withoutOutbox<T extends { outbox?: unknown[]; outbox_at?: Date; outbox_due_at?: Date; outbox_of?: string }>(
  record: T,
): T {
  const { outbox_at: _, outbox_due_at: __, outbox_of: ___, ...rest } = record;
  return (record.outbox ? { ...rest, outbox: [] } : rest) as T;
}

/** Records with other ids are copied so often that there are `count`. Each is a second older than the one before. */
async function copyRecords(store: Store, name: string, organization_id: string, count: number): Promise<void> {
  type Copied = {
    _id: string;
    organization_id: string;
    created_at?: Date;
    at?: Date;
    state?: string;
    outbox?: unknown[];
  };
  const collection = store.collection<Copied>(name);
  const originals = await collection.find({ organization_id }).limit(100).toArray();
  if (originals.length === 0) throw new Error(`the organization has no ${name}`);
  const older = (date: Date | undefined, seconds: number) => date && new Date(date.getTime() - seconds * 1_000);
  const copyOf = (at: number): Copied => {
    const one = withoutOutbox(originals[at % originals.length]!);
    const [created_at, moment] = [older(one.created_at, at), older(one.at, at)];
    // What waits would all be sent while requests are measured.
    const isOver = one.state === undefined ? {} : { state: 'delivered' };
    return { ...one, _id: newId(), ...isOver, ...(created_at && { created_at }), ...(moment && { at: moment }) };
  };
  for (let from = 0; from < count; from += INSERTED_AT_ONCE)
    await collection.insertMany(Array.from({ length: INSERTED_AT_ONCE }, (_, at) => copyOf(from + at)));
}

/** Forms of a website with the longest texts. */
async function fillForms(store: Store): Promise<void> {
  const fields = { name: filler(200), email: 'someone@shop.example', company: filler(200), message: filler(5_000) };
  const forms = store.collection<FormSubmission>('form_submissions');
  const sent = (at: number) => new Date(Date.now() - at * 60_000);
  for (let from = 0; from < FORMS; from += INSERTED_AT_ONCE)
    await forms.insertMany(
      Array.from({ length: INSERTED_AT_ONCE }, (_, at) => ({
        ...{ _id: newId(), form: 'contact' as const, fields, received_at: sent(from + at) },
      })),
    );
}

/**
 * Adds records to the stored data of a control plane that is stopped, as if they had been made over months: `count` common scans, cancelled
 * ones with the longest URL, copies of the largest, which are the newest, and copies of what scans and requests leave (`GROWN`).
 */
export async function fillStore(
  folder: string,
  organizationId: string,
  { scans: largest, campaigns }: Filled,
  count: number,
) {
  const store = await openStore({ path: join(folder, 'store.db') });
  for (const [name, copies] of Object.entries(GROWN)) await copyRecords(store, name, organizationId, copies);
  await fillForms(store);
  const scans = store.collection<StoredScan>('scans');
  const insertAll = async (records: number, make: (at: number) => StoredScan) => {
    for (let from = 0; from < records; from += INSERTED_AT_ONCE)
      await scans.insertMany(
        Array.from({ length: Math.min(INSERTED_AT_ONCE, records - from) }, (_, at) => make(from + at)),
      );
  };
  await insertAll(count, (at) => {
    const campaign_id = campaigns[at % 10] ?? null;
    const scan = { ...storedScan(at, organizationId), campaign_id };
    return { ...scan, filter_keys: filterKeysOf(scan) };
  });
  await insertAll(LONG_URLS, (at): StoredScan => {
    const scan = storedScan(count + at, organizationId);
    const value = `https://shop.example/${filler(32_000)}`;
    return { ...scan, status: 'cancelled', target: { kind: 'url', value }, capture: null, tags: [] };
  });
  const [example] = await scans.find({ _id: { $in: largest } }).toArray();
  if (!example) throw new Error('no large scan was stored');
  for (let at = 0; at < LARGE_SCANS; at += 1) {
    const created_at = new Date(example.created_at.getTime() - at - 1);
    const copy = { ...withoutOutbox(example), _id: newId(), created_at };
    await scans.insertOne({ ...copy, filter_keys: filterKeysOf(copy) });
  }
  await store.close();
}
