import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RunningFarm } from '../../infra/farm/test/support/running-farm.ts';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';

/** The duration of a round in seconds, and the CPU seconds of all processes that took part. */
export type Measurement = { seconds: number; cpu: number };
/** `node`: of the browser node with its browser alone. */
export type FarmMeasurement = Measurement & { node: number };

const ASK_EVERY_MS = 500;
/** Pages take this long on average at the most. */
const SECONDS_A_PAGE_MAX = 20;

/** How many scans had ended at a moment (`performance.now()`), and the CPU seconds used until then. */
type Moment = { ended: number; at: number; cpu: { all: number; node: number } };

/** A farm with its ad world, and what its processes use. */
export class MeasuredFarm extends RunningFarm {
  constructor(slots: number) {
    super({ ADSWEEP_SLOTS: String(slots), ADSWEEP_DEMO: '1' });
  }

  /** Where the ad world listens. */
  get adWorld(): string {
    const { hosts } = JSON.parse(readFileSync(join(this.dataDir, 'demo-exits.json'), 'utf8')) as {
      hosts: Record<string, string>;
    };
    return Object.values(hosts)[0] ?? '';
  }

  /** Scans all of these pages; throws when one does not complete. */
  async scanAll(urls: string[]): Promise<FarmMeasurement> {
    const before = { ended: await this.#completed(), at: performance.now(), cpu: this.#cpu() };
    await this.#submitAll(urls);
    return measurementBetween(before, await this.#untilCompleted(before.ended + urls.length, urls.length), urls.length);
  }

  /**
   * Scans all of these pages at once, and measures from the end of number `before` until `pages` more have ended: every slot has work all
   * the while. Throws when one does not complete.
   */
  async scanSteadily(urls: string[], before: number, pages: number): Promise<FarmMeasurement> {
    const known = await this.#completed();
    await this.#submitAll(urls);
    const first = await this.#untilCompleted(known + before, urls.length);
    const last = await this.#untilCompleted(first.ended + pages, urls.length);
    await this.#untilCompleted(known + urls.length, urls.length);
    return measurementBetween(first, last, pages);
  }

  async #submitAll(urls: string[]): Promise<void> {
    await Promise.all(urls.map((url) => this.submit({ url })));
  }

  /** Waits until `count` scans have completed. Polls as seldom as a client would, because each response costs CPU. `pages`: scans under way. */
  async #untilCompleted(count: number, pages: number): Promise<Moment> {
    const lateAt = performance.now() + SECONDS_A_PAGE_MAX * 1_000 * pages;
    let ended = await this.#completed();
    for (; ended < count; ended = await this.#completed()) {
      if (performance.now() > lateAt) throw new Error(`${ended} scans have completed and not ${count}`);
      await pause(ASK_EVERY_MS);
    }
    return { ended, at: performance.now(), cpu: this.#cpu() };
  }

  /** How many scans have completed since the farm began. */
  async #completed(): Promise<number> {
    const answer = await this.call('GET', '/api/v1/scans?status=completed&limit=1');
    return ((await answer.json()) as { total: number }).total;
  }

  /** CPU of everything but the ad world, and of the browser node alone. */
  #cpu(): { all: number; node: number } {
    const node = cpuSecondsOfTree(this.pidOf('browser-node 1'));
    return { all: cpuSecondsOfTree(this.pid) - cpuSecondsOfTree(this.pidOf('ad world')), node };
  }
}

/** Several scans may end between two polls, so the figures are scaled to `pages` of them. */
function measurementBetween(first: Moment, last: Moment, pages: number): FarmMeasurement {
  const share = pages / (last.ended - first.ended);
  const [cpu, node] = [last.cpu.all - first.cpu.all, last.cpu.node - first.cpu.node];
  return { seconds: ((last.at - first.at) / 1000) * share, cpu: cpu * share, node: node * share };
}
