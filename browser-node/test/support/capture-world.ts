import { gunzipSync } from 'node:zlib';
import type { CapturedBody, CapturedDocument } from '@adsweep/shared/capture/artifact.ts';
import type { CapturedHop } from '@adsweep/shared/capture/hop.ts';
import type { ObservationKind } from '@adsweep/shared/capture/observation.ts';
import type { CrawlJob } from '@adsweep/shared/lease/crawl-job.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { capturePage } from '../../src/capture/capture.ts';
import type { CaptureOutcome } from '../../src/capture/capture-outcome.ts';
import { TestChromium } from './chromium.ts';
import { ForwardProxy } from './forward-proxy.ts';
import { Site } from './site.ts';

export type CaptureOptions = { referrer?: string; debugging?: boolean; signal?: AbortSignal };

/** A local web, a Chromium, and captures of what is on the one by the other. */
export class CaptureWorld {
  readonly site: Site;
  readonly chromium: TestChromium;

  constructor(site: Site, chromium: TestChromium) {
    this.site = site;
    this.chromium = chromium;
  }

  static async start(...flags: string[]): Promise<CaptureWorld> {
    return new CaptureWorld(await Site.start(), await TestChromium.start(...flags));
  }

  /** One capture in a context of its own, by a proxy of its own. */
  async capture(url: string, options: CaptureOptions = {}): Promise<Captured> {
    const proxy = await ForwardProxy.start(this.site);
    const open = await this.chromium.open(proxy.server, options);
    const startedAt = performance.now();
    try {
      const signal = options.signal ?? new AbortController().signal;
      const job = jobFor(url, options.referrer ?? null);
      const outcome = await capturePage(job, open, proxy.traffic, signal, createLogger('test', 'fatal'));
      return new Captured(outcome, performance.now() - startedAt);
    } finally {
      await open.close();
      await proxy.close();
    }
  }

  async close(): Promise<void> {
    await this.chromium.close();
    await this.site.close();
  }
}

/** A capture with the questions tests ask of it. */
export class Captured {
  readonly outcome: CaptureOutcome;
  readonly tookMs: number;

  constructor(outcome: CaptureOutcome, tookMs: number) {
    this.outcome = outcome;
    this.tookMs = tookMs;
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
    return this.outcome.capture.notes.map(({ collector, text }) => `${collector}: ${text}`).join('\n');
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

  observed(kind: ObservationKind) {
    return this.outcome.capture.observations.filter((observation) => observation.kind === kind);
  }

  file(name: string) {
    return this.outcome.files.find((file) => file.name === name);
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

const jobFor = (value: string, referrer: string | null): CrawlJob => ({
  scan_id: 'scan',
  attempt: 0,
  target: { kind: 'url', value },
  targeting: { country_code: 'US', proxy_type: 'residential', region: '', city: '', isp: '' },
  emulator_id: 'desktop',
  referrer,
  exit_session: 'session',
});
