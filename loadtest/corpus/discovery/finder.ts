import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { ChromiumPool } from '../../../browser-node/src/browser/chromium-pool.ts';
import { findAds } from '../../../browser-node/src/capture/discovery/find-ads.ts';
import type { CaptureRequest } from '../../../browser-node/src/capture/session/capture-outcome.ts';
import {
  type CaptureSession,
  leaveSession,
  openSession,
  openTab,
  watchContext,
} from '../../../browser-node/src/capture/session/capture-session.ts';
import { Landings } from '../../../browser-node/src/capture/session/landings.ts';
import { Visit } from '../../../browser-node/src/capture/session/visit.ts';
import { url as urlTarget } from '../../../browser-node/src/capture/targets/url.ts';
import { chromiumOfRun } from '../../../browser-node/test/support/chromium-of-run.ts';
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
      const limits = JOB_LIMITS.sweep;
      const watch = await watchContext(open);
      const session = openSession(watch, { limits }, new AbortController().signal, silent);
      try {
        const target = { kind: 'url' as const, value: urlOf(page) };
        return await adsOf(session, { scan_id: 'scan', target, referrer: null, emulator_id: emulator.id, limits });
      } finally {
        leaveSession(session);
        await watch.close();
      }
    } finally {
      await open.close();
      await proxy.close();
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Loads the page of a request and finds its ads. Throws if it does not load. */
async function adsOf(session: CaptureSession, request: CaptureRequest): Promise<FoundBlock[]> {
  const capture = { ...session, visit: new Visit(), landings: new Landings(session.tabs), publisherUrl: '' };
  const tab = await openTab(session);
  if (!tab) throw new Error('no tab opened');
  const { error, failure } = await urlTarget.visit(capture, tab, request);
  if (error || failure) throw new Error(error || failure?.cause);
  return (await findAds(capture, tab)).map(({ block }) => block);
}
