import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFinal, type ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { barChart } from './bar-chart.ts';
import { environmentWith } from './config.ts';
import { cpuSecondsOfTree, memoryOfTree } from './cpu-of-tree.ts';
import { machine, median } from './machine.ts';
import { saveResult } from './save-result.ts';

/**
 * What a page scan costs beside a bare Playwright loop that loads the same pages and takes the same screenshot: CPU seconds a page
 * and pages a minute, in turn (A B A B ...), medians. Needs a machine that has run `npm start` or `npm test` once.
 */
const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = ['http://news.publisher.example/', 'http://quiet.shop.example/', 'http://go.redirects.example/by/302'];
const PAGES_A_TURN = Number(process.argv[2] ?? 24);
const TURNS = Number(process.argv[3] ?? 5);
const AT_ONCE = 4;

type Turn = { seconds: number; cpu: number };
type FarmTurn = Turn & { node: number };

/** The farm with its ad world, started as `npm start` does. */
class Farm {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  readonly child: ChildProcess;
  #output = '';
  baseUrl = '';
  key = '';

  constructor() {
    this.child = spawn(process.execPath, [join(ROOT, 'infra/farm/start.ts')], {
      env: environmentWith({
        ADSWEEP_HTTP_PORT: '0',
        ADSWEEP_NODE_API_PORT: '0',
        ADSWEEP_PROXY_PORT: '0',
        ADSWEEP_SLOTS: String(AT_ONCE),
        ADSWEEP_DATA_DIR: this.dataDir,
        ADSWEEP_DEMO: '1',
      }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child.stdout?.on('data', (bytes: Buffer) => {
      this.#output += bytes.toString();
    });
  }

  async ready(): Promise<this> {
    while (!/report: /.test(this.#output)) {
      if (this.child.exitCode !== null) throw new Error(`the farm ended:\n${this.#output}`);
      await sleep(100);
    }
    const [, baseUrl = '', key = ''] = /^adsweep ready (\S+) key (\S+)$/m.exec(this.#output) ?? [];
    this.baseUrl = baseUrl;
    this.key = key;
    return this;
  }

  pidOf(part: string): number {
    return Number(new RegExp(`^ *${part} is up \\(process (\\d+)`, 'm').exec(this.#output)?.[1]);
  }

  /** Where the ad world listens. */
  get adWorld(): string {
    const { hosts } = JSON.parse(readFileSync(join(this.dataDir, 'demo-exits.json'), 'utf8')) as {
      hosts: Record<string, string>;
    };
    return Object.values(hosts)[0] ?? '';
  }

  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' };
    const answer = await fetch(this.baseUrl + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** CPU of everything but the ad world, and of the browser node with its browser alone. */
  cpu(): { all: number; node: number } {
    const node = cpuSecondsOfTree(this.pidOf('browser-node 1'));
    return { all: cpuSecondsOfTree(this.child.pid ?? 0) - cpuSecondsOfTree(this.pidOf('ad world')), node };
  }

  async close(): Promise<void> {
    const gone = new Promise((done) => this.child.once('exit', done));
    this.child.kill('SIGTERM');
    await gone;
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

const pagesOfTurn = Array.from({ length: PAGES_A_TURN }, (_, index) => PAGES[index % PAGES.length]!);

async function scanTurn(farm: Farm): Promise<FarmTurn> {
  const before = farm.cpu();
  const began = performance.now();
  const ids = await Promise.all(
    pagesOfTurn.map(async (url) => {
      const request = { url, country_code: 'US', emulator_id: 'windows_chrome' };
      return (await farm.call<{ id: string }>('POST', '/api/v1/scans', request)).id;
    }),
  );
  for (const id of ids) await completed(farm, id);
  const seconds = (performance.now() - began) / 1000;
  const after = farm.cpu();
  return { seconds, cpu: after.all - before.all, node: after.node - before.node };
}

/** Waits for a scan's end; an error where that is not `completed`. */
async function completed(farm: Farm, id: string): Promise<void> {
  for (;;) {
    const { status } = await farm.call<{ status: ScanStatus }>('GET', `/api/v1/scans/${id}`);
    if (status === 'completed') return;
    if (isFinal(status)) throw new Error(`scan ${id} ended as ${status}`);
    await sleep(100);
  }
}

async function bareTurn(adWorld: string): Promise<Turn> {
  const script = join(import.meta.dirname, 'bare-loop.ts');
  const child = spawn(process.execPath, [script, adWorld, String(AT_ONCE), ...pagesOfTurn], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const gone = new Promise((done) => child.once('exit', done));
  const cpu = () => cpuSecondsOfTree(child.pid ?? 0);
  await word(child);
  const before = cpu();
  child.send('go');
  const { seconds = 0 } = await word(child);
  const after = cpu();
  child.send('end');
  await gone;
  return { seconds, cpu: after - before };
}

/** The next message of a child process; an error when it ends first. */
function word(child: ChildProcess): Promise<{ seconds?: number }> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as { seconds?: number }));
    child.once('exit', (code) => reject(new Error(`the bare loop ended with ${code}`)));
  });
}

/** MiB of the whole farm: idle, and the most seen while every slot captures. */
async function memory(farm: Farm): Promise<{ idle: number; busy: number }> {
  const root = farm.child.pid ?? 0;
  const idle = memoryOfTree(root);
  let busy = 0;
  const turn = scanTurn(farm);
  const watch = setInterval(() => {
    busy = Math.max(busy, memoryOfTree(root));
  }, 250);
  await turn;
  clearInterval(watch);
  return { idle, busy };
}

const farm = await new Farm().ready();
const scans: FarmTurn[] = [];
const bare: Turn[] = [];
try {
  const { idle, busy } = await memory(farm);
  for (let turn = 0; turn < TURNS; turn++) {
    bare.push(await bareTurn(farm.adWorld));
    scans.push(await scanTurn(farm));
    console.log(
      `turn ${turn + 1} of ${TURNS}: bare ${bare.at(-1)?.cpu.toFixed(1)} s CPU, scans ${scans.at(-1)?.cpu.toFixed(1)} s CPU`,
    );
  }
  const perPage = (turns: Turn[]) => median(turns.map(({ cpu }) => cpu / PAGES_A_TURN));
  const perMinute = (turns: Turn[]) => median(turns.map(({ seconds }) => (60 * PAGES_A_TURN) / seconds));
  const ratio = median(scans.map(({ cpu }, turn) => cpu / bare[turn]!.cpu));
  const nodeRatio = median(scans.map(({ node }, turn) => node / bare[turn]!.cpu));
  const rows = [
    ['bare Playwright loop', perPage(bare), perMinute(bare), 1],
    ['browser node alone', median(scans.map(({ node }) => node / PAGES_A_TURN)), perMinute(scans), nodeRatio],
    ['whole farm', perPage(scans), perMinute(scans), ratio],
  ] as const;
  saveResult('capture', [
    `# A page scan beside a bare Playwright loop`,
    `${machine()}; ${TURNS} turns of ${PAGES_A_TURN} pages (${PAGES.length} different ones), ${AT_ONCE} at once, in turn, medians.`,
    ['| what | CPU seconds a page | pages a minute | CPU, times the bare loop |', '|---|---|---|---|']
      .concat(
        rows.map(
          ([what, cpu, pages, times]) => `| ${what} | ${cpu.toFixed(2)} | ${pages.toFixed(0)} | ${times.toFixed(2)} |`,
        ),
      )
      .join('\n'),
    `Memory of the whole farm (proportional set size): ${idle.toFixed(0)} MiB idle, ${busy.toFixed(0)} MiB with ${AT_ONCE} captures running.`,
    barChart(
      'CPU seconds a page',
      rows.map(([what, cpu]) => [what, cpu]),
    ),
  ]);
} finally {
  await farm.close();
}
