import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import type { Discovery } from '@adsweep/shared/capture/ad-block.ts';
import type { CapturedBody, CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import { ARTIFACT_NAME } from '@adsweep/shared/capture/artifacts.ts';
import { CaptureSchema } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop } from '@adsweep/shared/capture/hop.ts';
import { noteWords } from '@adsweep/shared/capture/notes.ts';
import { type ObservationKind, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { CrawlJob, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import type { Target } from '@adsweep/shared/scan/target.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { Value } from 'typebox/value';
import { ChromiumPool } from '../../src/browser/chromium-pool.ts';
import type { BrowserPool, OpenContext } from '../../src/browser/open-context.ts';
import type { LaunchReason } from '../../src/browser/recycle-policy.ts';
import { capturePage } from '../../src/capture/capture.ts';
import type { CaptureOutcome, CaptureRequest } from '../../src/capture/session/capture-outcome.ts';
import { removeFiles } from '../../src/capture/session/capture-outcome.ts';
import { StoredFile } from '../../src/capture/session/stored-file.ts';
import { startSweep } from '../../src/capture/sweep/sweep.ts';
import { AttemptContexts } from '../../src/lease/attempt-contexts.ts';
import { AttemptStop } from '../../src/lease/attempt-stop.ts';
import type { ExitsClient } from '../../src/lease/exits-client.ts';
import { type Attempt, makeAttempt } from '../../src/lease/make-attempt.ts';
import { createMetrics } from '../../src/metrics.ts';
import { chromiumWith } from './chromium-with.ts';
import { ForwardProxy } from './forward-proxy.ts';
import { Site } from './site.ts';
import { ticketFor } from './ticket.ts';

/** `opened` sees the context and its proxy before the capture does. */
export type CaptureOptions = {
  kind?: Target['kind'];
  /** Another web than the world's own. */
  site?: Site;
  referrer?: string;
  isolated?: boolean;
  signal?: AbortSignal;
  emulator?: string;
  opened?: (open: OpenContext, proxy: ForwardProxy) => void;
};

/** What the tests' pages are seen on unless they ask for another: 1366 by 633 pixels. */
const EMULATOR = 'windows_edge';
const silent = createLogger('test', 'fatal');

/** A local web, a browser, and captures of what is on the one by the other. */
export class CaptureWorld {
  readonly site: Site;
  readonly #pool: BrowserPool;
  readonly #removeCommand: () => Promise<void>;
  /** Why each of its browsers was started. */
  readonly launches: readonly LaunchReason[];

  constructor(
    site: Site,
    pool: BrowserPool,
    removeCommand: () => Promise<void>,
    launches: readonly LaunchReason[] = [],
  ) {
    this.launches = launches;
    this.site = site;
    this.#pool = pool;
    this.#removeCommand = removeCommand;
  }

  /** With the browser of a node; with `flags`, one that is started with these. */
  static async start(...flags: string[]): Promise<CaptureWorld> {
    const { chromium, remove } = await chromiumWith(flags);
    const launches: LaunchReason[] = [];
    const pool = new ChromiumPool(chromium, silent, (reason) => launches.push(reason));
    return new CaptureWorld(await Site.start(), pool, remove, launches);
  }

  /** One capture in a context of its own, by a proxy of its own. */
  async capture(value: string, options: CaptureOptions = {}): Promise<Captured> {
    const proxy = await ForwardProxy.start(options.site ?? this.site);
    const emulator = findEmulator(options.emulator ?? EMULATOR);
    if (!emulator) throw new Error(`no emulator ${options.emulator}`);
    const open = await this.#pool.open({
      emulator,
      countryCode: 'US',
      ticket: ticketFor(proxy.server),
      isolated: options.isolated ?? false,
    });
    options.opened?.(open, proxy);
    const startedAt = performance.now();
    try {
      const signal = options.signal ?? new AbortController().signal;
      const outcome = await capturePage(
        {
          ...memberFor(value, options.referrer ?? null, options.kind),
          emulator_id: emulator.id,
          limits: JOB_LIMITS.page,
        },
        open,
        proxy.traffic,
        signal,
        silent,
      );
      const stored = await contentsOf(outcome);
      await removeFiles(outcome.files);
      return new Captured(outcome, performance.now() - startedAt, stored);
    } finally {
      await open.close();
      await proxy.close();
    }
  }

  /** As {@link capture}; one whose shared browser ends, or is left to others, runs again in its own, as a node does. */
  async captureAsNode(value: string, options: CaptureOptions = {}): Promise<Captured> {
    let hasEnded = () => false;
    const opened: CaptureOptions['opened'] = (open, proxy) => {
      hasEnded = () => open.browserEnded();
      options.opened?.(open, proxy);
    };
    const captured = await this.capture(value, { ...options, opened });
    return captured.failure && hasEnded() ? this.capture(value, { ...options, isolated: true }) : captured;
  }

  /** Runs `use` with a context of its own and what makes a request for a page. */
  async withContext<T>(
    use: (open: OpenContext, request: (url: string) => CaptureRequest) => Promise<T>,
    emulatorId = EMULATOR,
  ): Promise<T> {
    const proxy = await ForwardProxy.start(this.site);
    const emulator = findEmulator(emulatorId);
    if (!emulator) throw new Error(`no emulator ${emulatorId}`);
    const open = await this.#pool.open({
      emulator,
      countryCode: 'US',
      ticket: ticketFor(proxy.server),
      isolated: false,
    });
    try {
      return await use(open, (url) => ({ ...memberFor(url, null), emulator_id: emulator.id, limits: JOB_LIMITS.page }));
    } finally {
      await open.close();
      await proxy.close();
    }
  }

  /** One whole attempt, as a node makes it: a capture whose shared browser ends runs again in one of its own. */
  async attempt(url: string): Promise<Attempt> {
    const [attempt] = await this.attempts('page', [url]);
    return attempt!;
  }

  /** The attempts of a job, one after the other, as a node makes them. */
  async attempts(kind: CrawlJob['kind'], urls: string[]): Promise<Attempt[]> {
    const proxy = await ForwardProxy.start(this.site);
    const exits = {
      request: async () => ({ ticket: ticketFor(proxy.server) }),
      traffic: async () => proxy.traffic(),
      forget: async () => undefined,
    } as unknown as ExitsClient;
    const metrics = createMetrics(new Registry());
    const times = { attemptMs: 60_000, evidenceMs: 5_000 };
    const services = { exits, isRouterGone: async () => false, isBrowserGone: async () => false };
    const parts = { ...services, pool: this.#pool, capturePage, metrics, ...times, reportLoaded: async () => {} };
    try {
      const members = urls.map((url) => ({ ...memberFor(url, null), emulator_id: EMULATOR }));
      const job = { ...jobOf(members[0]!), kind, members };
      const contexts = new AttemptContexts(parts, job);
      const attempts: Attempt[] = [];
      for (const member of members)
        attempts.push(await makeAttempt(parts, job, member, contexts, new AttemptStop(), silent));
      await contexts.close(new AttemptStop());
      return attempts;
    } finally {
      await proxy.close();
    }
  }

  /** A page swept for ads, and its ads captured one after the other, as a node does; `beforeAds` sees the page's context before the first ad. */
  async sweep(
    url: string,
    discovery: Discovery,
    emulatorId = EMULATOR,
    beforeAds: (open: OpenContext) => Promise<unknown> = async () => undefined,
  ) {
    const proxy = await ForwardProxy.start(this.site);
    const emulator = findEmulator(emulatorId)!;
    const ticket = ticketFor(proxy.server);
    const open = await this.#pool.open({ emulator, countryCode: 'US', ticket, isolated: false });
    const request = { ...memberFor(url, null), emulator_id: emulatorId, limits: JOB_LIMITS.sweep };
    const { signal } = new AbortController();
    const sweep = startSweep();
    try {
      const page = new Captured(await sweep.page({ ...request, discovery }, open, proxy.traffic, signal, silent), 0);
      const { blocks } = sweep;
      const ads: Captured[] = [];
      await beforeAds(open);
      for (const ad_block of blocks.slice(0, discovery.max_ads)) {
        const startedAt = performance.now();
        const outcome = await sweep.ad({ ...request, ad_block }, open, proxy.traffic, signal, silent);
        ads.push(new Captured(outcome, performance.now() - startedAt, await contentsOf(outcome)));
      }
      return { page, blocks, ads };
    } finally {
      await sweep.close();
      await open.close();
      await proxy.close();
    }
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await this.site.close();
    await this.#removeCommand();
  }
}

/** A capture with the questions tests ask of it. */
export class Captured {
  readonly outcome: CaptureOutcome;
  readonly tookMs: number;

  readonly #stored: ReadonlyMap<string, Uint8Array>;

  /** `stored`: the contents of files that were on the disk. */
  constructor(outcome: CaptureOutcome, tookMs: number, stored: ReadonlyMap<string, Uint8Array> = new Map()) {
    assert.deepEqual([...Value.Errors(CaptureSchema, outcome.capture)], []);
    for (const { name } of outcome.files) assert.match(name, new RegExp(ARTIFACT_NAME));
    this.outcome = outcome;
    this.tookMs = tookMs;
    this.#stored = stored;
  }

  get failure(): string | null {
    return this.outcome.failure?.code ?? null;
  }

  get landings() {
    return this.outcome.capture.landings;
  }

  get requests() {
    return this.outcome.capture.requests;
  }

  get notes(): string {
    return this.outcome.capture.notes.map(noteWords).join('\n');
  }

  chain(ord = 0): CapturedHop[] {
    return this.landings.find((landing) => landing.ord === ord)?.redirect_chain ?? [];
  }

  /** A chain as `kind url` lines. */
  steps(ord = 0): string[] {
    return this.chain(ord).map(({ kind, url }) => `${kind} ${url}`);
  }

  urls(): string[] {
    return this.requests.map(({ url }) => url);
  }

  observed<K extends ObservationKind>(kind: K) {
    return observationsOf(this.outcome.capture.observations, kind);
  }

  file(name: string) {
    const file = this.outcome.files.find((one) => one.name === name);
    const bytes = file?.bytes instanceof StoredFile ? this.#stored.get(name) : file?.bytes;
    return file && { ...file, bytes: bytes ?? new Uint8Array() };
  }

  documents(): CapturedDocument[] {
    return this.#unzipped('documents.json.gz');
  }

  bodies(): CapturedBody[] {
    return this.#unzipped('bodies.json.gz');
  }

  #unzipped<T>(name: string): T[] {
    const file = this.file(name);
    return file ? (JSON.parse(gunzipSync(file.bytes).toString('utf8')) as T[]) : [];
  }
}

/** The contents of a capture's files that are on the disk, by name. */
async function contentsOf({ files }: CaptureOutcome): Promise<Map<string, Uint8Array>> {
  const stored = new Map<string, Uint8Array>();
  for (const { name, bytes } of files)
    if (bytes instanceof StoredFile) stored.set(name, new Uint8Array(await (await bytes.content()).arrayBuffer()));
  return stored;
}

const memberFor = (value: string, referrer: string | null, kind: Target['kind'] = 'url'): JobMember => ({
  scan_id: 'scan',
  attempt: 0,
  target: { kind, value },
  targeting: { country_code: 'US', proxy_type: 'residential', region: '', city: '', isp: '' },
  emulator_id: 'desktop',
  referrer,
});

const jobOf = (member: JobMember): CrawlJob => ({
  job_id: 'job',
  kind: 'page',
  isolation: 'shared',
  limits: JOB_LIMITS.page,
  exit_session: 'session',
  members: [member],
});
