import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { ChromiumPool } from '../../../browser-node/src/browser/chromium-pool.ts';
import { chromiumOfRun } from '../../../browser-node/test/support/chromium-of-run.ts';
import { findAdsIn } from '../../../browser-node/test/support/find-ads-on.ts';
import { ForwardProxy } from '../../../browser-node/test/support/forward-proxy.ts';
import type { Site } from '../../../browser-node/test/support/site.ts';
import { ticketFor } from '../../../browser-node/test/support/ticket.ts';
import type { FoundBlock } from './block-facts.ts';
import { type PublisherPage, urlOf } from './publisher-page.ts';

const silent = createLogger('corpus', 'fatal');

/** Finds the ads of pages as a node does, without a control plane and without clicking them. */
export class Finder {
  readonly #site: Site;
  readonly #pool: ChromiumPool;

  constructor(site: Site, pool: ChromiumPool) {
    this.#site = site;
    this.#pool = pool;
  }

  static async start(site: Site): Promise<Finder> {
    return new Finder(site, new ChromiumPool(await chromiumOfRun(), silent, () => undefined));
  }

  /** The ad blocks of a page, found in a context of its own. */
  async find(page: PublisherPage): Promise<FoundBlock[]> {
    const emulator = findEmulator(page.emulator ?? 'windows_edge');
    if (!emulator) throw new Error(`no emulator ${page.emulator}`);
    const proxy = await ForwardProxy.start(this.#site);
    const ticket = ticketFor(proxy.server);
    const open = await this.#pool.open({ emulator, countryCode: 'US', ticket, isolated: false });
    try {
      const target = { kind: 'url' as const, value: urlOf(page) };
      const request = { scan_id: 'scan', target, referrer: null, emulator_id: emulator.id, limits: JOB_LIMITS.sweep };
      return (await findAdsIn(open, request)).map(({ block }) => block);
    } finally {
      await open.close();
      await proxy.close();
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
