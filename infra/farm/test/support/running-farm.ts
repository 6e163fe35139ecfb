import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isFinal, type ScanStatus } from '../../../../shared/src/scan/scan-status.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { temporaryFolder } from './processes-of.ts';

const START = resolve(import.meta.dirname, '../../start.ts');
const FOLLOW_PARENT = new URL('../../../bootstrap/follow-parent.mjs', import.meta.url).href;

export type Scan = {
  id: string;
  status: ScanStatus;
  error: string;
  public_report_url: string;
  screenshot_url: string;
  page_title: string;
  retry_attempt: number;
  elapsed_ms: number;
  redirect_chain: { url: string; kind: string; status_code: number; sub_requests: SubRequest[] }[];
  landings: { ord: number; final_url: string; redirect_chain: { url: string; sub_requests: SubRequest[] }[] }[];
  creative_width: number;
  creative_height: number;
  creative_screenshot_url: string;
  creative_html_url: string;
  creative_redirect_chain: { url: string; sub_requests: SubRequest[] }[];
  video: Record<string, unknown> | null;
  vast: { trackers: { requested_url: string; requested_at_ms: number | null; status_code: number }[] } | null;
};
export type SubRequest = { url: string; resource_type: string; children: SubRequest[] };

/** The longest that a call of the API may take, in ms. */
const CALL_MS = 10_000;

/** A farm started as by `npm start`, on free ports and in a data folder of its own. It stops when this process ends, however that ends. */
export class RunningFarm {
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #ownsDataDir: boolean;
  #output = '';
  baseUrl = '';
  apiKey = '';

  constructor(env: NodeJS.ProcessEnv, dataDir?: string) {
    this.#ownsDataDir = dataDir === undefined;
    this.dataDir = dataDir ?? mkdtempSync(join(tmpdir(), 'adsweep-farm-'));
    // Browsers, which have a user of their own, keep their profiles here.
    mkdirSync(temporaryFolder(this.dataDir), { recursive: true });
    chmodSync(temporaryFolder(this.dataDir), 0o1777);
    this.#child = spawn(process.execPath, ['--import', FOLLOW_PARENT, START], {
      env: {
        ...process.env,
        ADSWEEP_HTTP_PORT: '0',
        ADSWEEP_NODE_API_PORT: '0',
        ADSWEEP_PROXY_PORT: '0',
        ADSWEEP_DATA_DIR: this.dataDir,
        TMPDIR: temporaryFolder(this.dataDir),
        ADSWEEP_DEMO: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (bytes: Buffer) => {
        this.#output += bytes.toString();
      });
  }

  /** Everything that it has printed so far. */
  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when it serves; a farm that does not start is closed. */
  async ready(): Promise<this> {
    const ready = this.says(/^adsweep ready (\S+) key (\S+)$/m);
    const [, baseUrl = '', apiKey = ''] = await ready.catch(async (error) => {
      await this.close();
      throw error;
    });
    Object.assign(this, { baseUrl, apiKey });
    return this;
  }

  /** Waits until the output matches; fails with the output when the farm ends or 60 s pass first. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const find = () => {
      const match = pattern.exec(this.#output);
      if (!match && this.#child.exitCode !== null) throw new Error(`the farm ended:\n${this.#output}`);
      return match;
    };
    return until(`output like ${pattern}`, find, 60);
  }

  /** The current process id of a service. */
  pidOf(part: string): number {
    const lines = [...this.#output.matchAll(/^\s*(.+?) is (?:up|back) \(process (\d+)/gm)];
    return Number(lines.findLast(([, name]) => name === part)?.[2]);
  }

  async call(method: string, path: string, body?: unknown, key = this.apiKey): Promise<Response> {
    // fetch may wait forever for a process that was killed at the wrong moment.
    const late = new AbortController();
    setTimeout(() => late.abort(new Error(`${method} ${path} was not answered in time`)), CALL_MS).unref();
    return fetch(this.baseUrl + path, {
      signal: late.signal,
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  async submit(request: object): Promise<Scan> {
    const answer = await this.call('POST', '/api/v1/scans', {
      country_code: 'US',
      emulator_id: 'windows_chrome',
      ...request,
    });
    if (answer.status !== 201) throw new Error(`POST /scans returned ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Scan;
  }

  async scan(id: string): Promise<Scan> {
    return (await (await this.call('GET', `/api/v1/scans/${id}`)).json()) as Scan;
  }

  /** The scan in its final state. */
  async finished(id: string, seconds = 60): Promise<Scan> {
    return until(
      `an end of scan ${id}`,
      async () => {
        const scan = await this.scan(id).catch(() => null);
        return scan && isFinal(scan.status) ? scan : null;
      },
      seconds,
    );
  }

  /** Creates a scan and waits for its final state. */
  async scanned(request: object): Promise<Scan> {
    return this.finished((await this.submit(request)).id);
  }

  async tagsOf(id: string): Promise<string[]> {
    const tags = (await (await this.call('GET', `/api/v1/scans/${id}/tags`)).json()) as { tag_slug: string }[];
    return tags.map((tag) => tag.tag_slug).sort();
  }

  /** Ledger entries of a scan, `type` and amount. */
  async ledgerOf(id: string): Promise<{ type: string; amount_micros: number }[]> {
    const page = (await (await this.call('GET', '/api/v1/billing/history?limit=200')).json()) as {
      items: { type: string; amount_micros: number; reference_id: string }[];
    };
    return page.items
      .filter((entry) => entry.reference_id === id)
      .map(({ type, amount_micros }) => ({ type, amount_micros }));
  }

  /**
   * The same, once there is an entry. A control plane that is killed while it processes a scan's outbox keeps its claim for 15 s, and a scan
   * may end sooner.
   */
  async charged(id: string): Promise<{ type: string; amount_micros: number }[]> {
    const entries = () => this.ledgerOf(id).then((found) => (found.length > 0 ? found : null));
    return until(`a ledger entry of scan ${id}`, entries, 60);
  }

  /** Stops it as a service manager would; returns the exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const exited = new Promise<number | null>((done) => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) done(this.#child.exitCode);
      else this.#child.once('exit', done);
    });
    this.#child.kill(signal);
    return exited;
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(temporaryFolder(this.dataDir), { recursive: true, force: true });
    if (this.#ownsDataDir) rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** The exit code, once it has ended by itself. */
  async ended(): Promise<number | null> {
    return until('its end', () => this.#child.exitCode, 60);
  }
}

/** Writes an exits file with direct exits and these host mappings into a folder; returns its path. */
export function writeExits(dir: string, hosts: Record<string, string>): string {
  const exit = (country_code: string, proxy_type: string) => ({
    id: `${country_code}-${proxy_type}`.toLowerCase(),
    country_code,
    proxy_type,
    region: 'Testshire',
    city: 'Testville',
    isp: 'Test Telecom',
    pool_size: 10,
    provider: 'direct',
  });
  const file = join(dir, 'exits.json');
  const exits = ['US', 'DE'].flatMap((country) => [exit(country, 'residential'), exit(country, 'mobile')]);
  writeFileSync(file, JSON.stringify({ exits, hosts }));
  return file;
}
