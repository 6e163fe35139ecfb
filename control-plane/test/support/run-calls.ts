import assert from 'node:assert/strict';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { createScansOfRuns } from '../../src/scanning/runs/create-scans-of-runs.ts';
import { CAMPAIGNS } from './campaign-calls.ts';
import { type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from './running-api.ts';
import { CATALOGUE } from './sample-catalogue.ts';

const OURS = ORGANIZATIONS.ours;
const COUNTS = ['total', 'completed', 'failed', 'partial', 'cancelled'] as const;
/** Countries that large campaigns have. */
export const COUNTRIES = Array.from({ length: 20 }, (_, n) => `A${n}`);

/** An API whose catalogue has exits in these countries. */
export function apiForRuns(): Promise<RunningApi> {
  const [pool] = CATALOGUE.pools;
  const pools = COUNTRIES.map((country_code) => ({ ...pool!, country_code }));
  return runningApi({ catalogue: { ...CATALOGUE, pools: [...CATALOGUE.pools, ...pools] } });
}

/** Calls about runs of an API, which runs when they are made, and what it keeps of them. */
export function runCalls(api: () => RunningApi) {
  const post = async (path: string, body?: object, headers: Record<string, string> = {}): Promise<Json> => {
    const answer = await api().post(path, body, { headers });
    assert.ok([200, 201].includes(answer.status), answer.text);
    return answer.body;
  };
  const get = async (path: string): Promise<Json> => (await api().get(path)).body;
  const campaign = (change: object = {}): Promise<Json> =>
    post(CAMPAIGNS, { name: 'Spring', url: 'https://shop.example/', country_codes: ['US', 'PT'], ...change });
  const refusal = async (path: string, key = KEYS.ours): Promise<string> => {
    const { status, body } = await api().post(path, undefined, { key });
    return `${status} ${body.code} ${typeof body.detail}`;
  };
  const countsOf = async (id: string): Promise<string> => {
    const run = await get(`/api/v1/runs/${id}`);
    return COUNTS.map((name) => run[name]).join(' ');
  };
  const scansOf = (run_id: string): Promise<ScanRecord[]> =>
    api().store.collection<ScanRecord>('scans').find({ run_id }).toArray();
  const record = async (id: string): Promise<ScanRecord> => (await api().scans.find(OURS, id))!;
  const quota = (checks_per_month: number | null) =>
    api().accounts.organizations.change(OURS, { quotas: { checks_per_month } });
  const used = async (): Promise<number> => {
    const { months } = await api().accounts.allowances.read(OURS);
    return Object.values(months).reduce((sum, checks) => sum + checks, 0);
  };
  const reservations = async () => Object.values((await api().accounts.allowances.read(OURS)).reservations);

  /** The steps that a scheduler makes, at a moment that is `laterMs` from now. */
  const step = (laterMs = 0) =>
    createScansOfRuns(api().domains.campaigns.dependencies.creating, new Date(Date.now() + laterMs));
  const create = async (): Promise<void> => {
    while (await step());
    await api().domains.accounts.verbs.writeFinishedReservations();
  };
  return { post, get, campaign, refusal, countsOf, scansOf, record, quota, used, reservations, step, create };
}
