import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import { RunningFarm } from '../../infra/farm/test/support/running-farm.ts';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';

/** Seconds that the pages of a turn took, and the CPU seconds of everything that worked for them. */
export type Turn = { seconds: number; cpu: number };
/** `node`: of the browser node with its browser alone. */
export type FarmTurn = Turn & { node: number };

const ASK_EVERY_MS = 250;

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
  async scanAll(urls: string[]): Promise<FarmTurn> {
    const before = this.#cpu();
    const began = performance.now();
    const scans = await Promise.all(urls.map((url) => this.submit({ url })));
    for (const { id } of scans) await this.#completed(id);
    const seconds = (performance.now() - began) / 1000;
    const after = this.#cpu();
    return { seconds, cpu: after.all - before.all, node: after.node - before.node };
  }

  /** CPU of everything but the ad world, and of the browser node alone. */
  #cpu(): { all: number; node: number } {
    const node = cpuSecondsOfTree(this.pidOf('browser-node 1'));
    return { all: cpuSecondsOfTree(this.pid) - cpuSecondsOfTree(this.pidOf('ad world')), node };
  }

  /** Asks as seldom as a client would: answers cost CPU, too. */
  async #completed(id: string): Promise<void> {
    let { status } = await this.scan(id);
    while (!isFinal(status)) {
      await pause(ASK_EVERY_MS);
      ({ status } = await this.scan(id));
    }
    if (status !== 'completed') throw new Error(`scan ${id} ended as ${status}`);
  }
}
