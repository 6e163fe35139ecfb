import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RunningFarm } from '../../infra/farm/test/support/running-farm.ts';
import type { Measurement } from './measure-process.ts';
import { browsersOf, type CpuByKind, cpuBetween, cpuByKind, sumOf } from './process-kinds.ts';

const ASK_EVERY_MS = 500;
/** Pages take this long on average at the most. */
const SECONDS_A_PAGE_MAX = 20;

/** Nodes replace their browser after some hundred captures: it may happen during a measurement, but not during each. */
const MEASURED_AGAIN_MAX = 3;

/** How many scans had ended at a moment (`performance.now()`), the CPU seconds used until then, and the processes of browsers. */
type Moment = { ended: number; at: number; cpu: CpuByKind; browsers: number[] };

/** A farm with its ad world, and what its processes use. `slots` null: its default; `settings`: on top of its environment. */
export class MeasuredFarm extends RunningFarm {
  constructor(slots: number | null = null, settings: NodeJS.ProcessEnv = {}) {
    super({ ADSWEEP_DEMO: '1', ...(slots !== null && { ADSWEEP_SLOTS: String(slots) }), ...settings });
  }

  /** Where the ad world listens. */
  get adWorld(): string {
    const { hosts } = JSON.parse(readFileSync(join(this.dataDir, 'demo-exits.json'), 'utf8')) as {
      hosts: Record<string, string>;
    };
    return Object.values(hosts)[0] ?? '';
  }

  /**
   * Scans all of these pages at once, and measures from the end of number `before` until `pages` more have ended: every slot has work all
   * the while. Where a node replaced its browser meanwhile, it measures again, because the CPU time of the old one's processes cannot be
   * read any more. Throws when a scan does not complete.
   */
  async scanSteadily(urls: string[], before: number, pages: number): Promise<Measurement> {
    for (let again = 0; again <= MEASURED_AGAIN_MAX; again += 1) {
      const measured = await this.#scanOnce(urls, before, pages);
      if (measured) return measured;
    }
    throw new Error('a node replaced its browser during each measurement');
  }

  /** Null: a node replaced its browser. */
  async #scanOnce(urls: string[], before: number, pages: number): Promise<Measurement | null> {
    const known = await this.#completed();
    await Promise.all(urls.map((url) => this.submit({ url })));
    const first = await this.#untilCompleted(known + before, urls.length);
    const last = await this.#untilCompleted(first.ended + pages, urls.length);
    await this.#untilCompleted(known + urls.length, urls.length);
    const isReplaced = first.browsers.some((pid) => !last.browsers.includes(pid));
    return isReplaced ? null : measurementBetween(first, last, pages);
  }

  /** CPU cores that the farm uses while it has nothing to do. */
  async idleCores(seconds: number): Promise<number> {
    const before = sumOf(cpuByKind(this.pid));
    await pause(seconds * 1000);
    return (sumOf(cpuByKind(this.pid)) - before) / seconds;
  }

  /** Waits until `count` scans have completed. Polls as seldom as a client would, because each response costs CPU. `pages`: scans under way. */
  async #untilCompleted(count: number, pages: number): Promise<Moment> {
    const lateAt = performance.now() + SECONDS_A_PAGE_MAX * 1_000 * pages;
    let ended = await this.#completed();
    for (; ended < count; ended = await this.#completed()) {
      if (performance.now() > lateAt) throw new Error(`${ended} scans have completed and not ${count}`);
      await pause(ASK_EVERY_MS);
    }
    return { ended, at: performance.now(), cpu: cpuByKind(this.pid), browsers: browsersOf(this.pid) };
  }

  /** How many scans have completed since the farm began; throws when one ended otherwise. */
  async #completed(): Promise<number> {
    const failed = await this.#total('failed,partial,cancelled');
    if (failed > 0) throw new Error(`${failed} scans did not complete`);
    return this.#total('completed');
  }

  async #total(statuses: string): Promise<number> {
    const answer = await this.call('GET', `/api/v1/scans?status=${statuses}&limit=1`);
    return ((await answer.json()) as { total: number }).total;
  }
}

/** Several scans may end between two polls, so the figures are scaled to `pages` of them. */
function measurementBetween(first: Moment, last: Moment, pages: number): Measurement {
  const share = pages / (last.ended - first.ended);
  const byKind = cpuBetween(first.cpu, last.cpu, share);
  return { seconds: ((last.at - first.at) / 1000) * share, cpu: sumOf(byKind), byKind };
}
