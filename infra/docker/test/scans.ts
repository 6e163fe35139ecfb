import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './engine.ts';

export type Scan = { id: string; status: string; error: string };

const FINAL = ['completed', 'partial', 'failed', 'cancelled'];
/** A harmless landing of the ad world, quick to scan. */
const PAGE = { url: 'http://quiet.shop.example/', country_code: 'DE', emulator_id: 'windows_chrome' };
export const SCAN = { ...PAGE, retry_max_attempts: 3 };
const ASKERS = 4;
const PAUSE_MS = 50;

/** The API of a deployment, as a client uses it. */
export class Client {
  readonly #baseUrl: string;
  readonly #key: string;

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  /** One request, which is not repeated. Rejects unless it is answered with a success. */
  async call<T>(method: string, path: string, body?: unknown, extra: Record<string, string> = {}): Promise<T> {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...extra };
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(this.#baseUrl + path, { method, headers, ...json, signal: AbortSignal.timeout(20_000) });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** Submits scans, each with an Idempotency-Key of its own, so that a request that got no answer can be sent again. Returns their ids. */
  async submit(count: number): Promise<string[]> {
    const one = async (): Promise<string> => {
      const key = crypto.randomUUID();
      const scan = await until('a scan is accepted', 60_000, () => this.#create(key));
      return scan.id;
    };
    return Promise.all(Array.from({ length: count }, one));
  }

  async #create(key: string): Promise<Scan> {
    return this.call<Scan>('POST', '/api/v1/scans', SCAN, { 'idempotency-key': key });
  }

  /** The scans, when all of them have ended. Rejects when none has ended for `ms` milliseconds: how long all of them need is a matter of load. */
  async ended(ids: string[], ms: number): Promise<Scan[]> {
    const done = new Map<string, Scan>();
    let end = Date.now() + ms;
    while (done.size < ids.length) {
      if (Date.now() > end)
        throw new Error(
          `${ids.length - done.size} of ${ids.length} scans are left, and none has ended for ${ms / 1000} s`,
        );
      for (const id of ids.filter((one) => !done.has(one))) {
        const scan = await this.call<Scan>('GET', `/api/v1/scans/${id}`).catch(() => null);
        if (!scan || !FINAL.includes(scan.status)) continue;
        done.set(id, scan);
        end = Date.now() + ms;
      }
      await sleep(500);
    }
    return ids.map((id) => done.get(id)!);
  }
}

/**
 * What went wrong with scans, as text; '' when nothing did. Scans that lack a check because their browser had no time for it are counted in a
 * printed line instead: nothing of them is lost, and they come from a machine with too few cores for what a test starts at once.
 */
export function faultsOf(scans: Scan[]): string {
  const unfinished = scans.filter(({ status }) => status !== 'completed');
  const late = unfinished.filter(lacksTimeOnly);
  if (late.length > 0)
    console.log(`${late.length} of ${scans.length} scans lack a check that could not be made in time`);
  return unfinished
    .filter((scan) => !late.includes(scan))
    .map(({ id, status, error }) => `${id} ${status} ${error}`)
    .join('\n');
}

/** Such as `checks: the text of landing 0 could not be read: scareware fake_update, sound could not be recorded in time: autosound`. */
const lacksTimeOnly = ({ status, error }: Scan): boolean =>
  status === 'partial' &&
  error.startsWith('checks: ') &&
  error.split(', ').every((missing) => / could not be (recorded|read|taken)/.test(missing));

/** Reads and writes over kept connections, without repeating a request, until `stop`, which tells how many were answered and what failed. */
export function keepAsking(client: Client) {
  const stopped = new AbortController();
  let answers = 0;
  const faults: string[] = [];
  const ask = async () => {
    while (!stopped.signal.aborted) {
      const asked = [
        () => client.call('GET', '/api/v1/account'),
        () => client.call('POST', '/api/v1/scans?dry_run=true', SCAN),
      ];
      for (const one of asked)
        await one().then(
          () => answers++,
          (error: Error) => faults.push(`${new Date().toISOString()} ${error.message} ${String(error.cause ?? '')}`),
        );
      await sleep(PAUSE_MS);
    }
  };
  const asking = Array.from({ length: ASKERS }, ask);
  const stop = async () => {
    stopped.abort();
    await Promise.all(asking);
    return { answers, faults };
  };
  return { stop };
}
