import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { OpenContext } from '../../browser/open-context.ts';
import { unobserved, unseen } from '../capture.ts';
import { finishMember, type SeenMember, seeMember } from '../capture-member.ts';
import { AdRecords } from '../discovery/ad-records.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import { type CaptureOutcome, type CapturePage, type CaptureRequest, removeFiles } from '../session/capture-outcome.ts';
import {
  type ContextWatch,
  leaveSession,
  type MemberCapture,
  openSession,
  watchContext,
} from '../session/capture-session.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import type { Visited } from '../targets/target.ts';
import { url as pageTarget } from '../targets/url.ts';
import { isRequestOfAds } from './ad-requests.ts';
import { captureAd } from './capture-ad.ts';
import { type KeptAd, keepAds } from './keep-ads.ts';
import { drawAdsOnPage } from './page-picture.ts';
import { findOnPage, keepPage, loadAgain, type PublisherPage, type VisitedPage } from './publisher-page.ts';

/** Sweeps one page for ads and captures them one after the other, in one context as long as that lasts. */
export type Sweep = {
  /** Captures the page and finds its ads. */
  page: CapturePage;
  /** Captures one of its ads, which is found again if the page has to be loaded again. */
  ad: CapturePage;
  /** The ads of the wanted formats that were found by the last `page`, in the order of their `slot_index`. */
  readonly blocks: readonly AdBlock[];
  /** Ends the observation and removes what no capture used. Never throws. */
  close(): Promise<void>;
};

export const startSweep = (): Sweep => new PageSweep();

class PageSweep implements Sweep {
  blocks: readonly AdBlock[] = [];
  #context: OpenContext | null = null;
  #watch: ContextWatch | null = null;
  #page: PublisherPage | null = null;
  #kept = new Map<string, KeptAd>();
  /** The ads that are to be scanned. */
  #scanned: readonly FoundAd[] = [];
  #records = new AdRecords();

  readonly page: CapturePage = (request, open, traffic, signal, logger) =>
    this.#observed(open, async (watch) => {
      await this.#discard();
      this.#records = new AdRecords();
      const session = openSession(watch, { limits: request.limits }, signal, logger);
      try {
        const found: { page: VisitedPage | null } = { page: null };
        const visit = async (capture: MemberCapture, tab: OpenTab): Promise<Visited> => {
          const visited = await pageTarget.visit(capture, tab, request);
          if (!visited.error && !visited.failure) found.page = await this.#findAds(capture, tab, request);
          return visited;
        };
        const seen = await seeMember(session, { ...pageTarget, visit }, request);
        if (found.page) await this.#leavePage(seen, found.page);
        const leftAt = performance.now();
        const outcome = await finishMember(seen, await traffic().catch(() => null), leftAt);
        if (found.page && !outcome.failure) this.#page = await session.ending.contain(keepPage(session, found.page));
        return outcome;
      } finally {
        leaveSession(session);
      }
    });

  readonly ad: CapturePage = (request, open, traffic, signal, logger) =>
    this.#observed(open, async (watch) => {
      const { ad_block } = request;
      if (!ad_block) throw new Error('a scan of a sweep has no ad');
      const kept = this.#kept.get(ad_block.identity) ?? null;
      const page = await this.#fitPage(watch, { ...request, ad_block }, signal, logger);
      if ('failure' in page && !kept) return { ...unseen(open, Date.now()), failure: page.failure };
      const own = 'failure' in page ? null : page;
      const found = own?.ads.find(({ block }) => block.identity === ad_block.identity) ?? null;
      if (!found && !kept) {
        const failure = { code: 'ad_discovery: AD_GONE', cause: 'the ad was not found again' } as const;
        return { ...unseen(open, Date.now()), failure };
      }
      return captureAd(
        watch,
        { request: { ...request, ad_block }, page: own, found, kept, records: this.#records, signal, logger },
        traffic,
      );
    });

  async close(): Promise<void> {
    await this.#watch?.close();
    await this.#discard();
  }

  /** Observes a context, once for all captures in it. A context that cannot be observed has a failure. */
  async #observed(
    open: OpenContext,
    capture: (watch: ContextWatch) => Promise<CaptureOutcome>,
  ): Promise<CaptureOutcome> {
    const startedAtMs = Date.now();
    try {
      if (this.#context !== open || !this.#watch) {
        await this.#watch?.close();
        this.#page = null;
        this.#watch = await watchContext(open);
        this.#context = open;
      }
    } catch (error) {
      this.#watch = null;
      return unobserved(open, startedAtMs, error);
    }
    return capture(this.#watch);
  }

  async #findAds(capture: MemberCapture, tab: OpenTab, { discovery }: CaptureRequest): Promise<VisitedPage> {
    const found = await findOnPage(capture, tab);
    const wanted = found.ads.filter(({ block }) => discovery?.ad_formats.includes(block.ad_kind));
    this.blocks = wanted.map(({ block }) => block);
    this.#scanned = wanted.slice(0, discovery?.max_ads);
    this.#kept = await keepAds(capture, this.#scanned);
    return found;
  }

  /**
   * Takes out of the page's capture what the ads did that have a scan of their own, and puts their pictures into its
   * screenshot.
   */
  async #leavePage({ draft, capture }: SeenMember, { tab }: VisitedPage): Promise<void> {
    const shown = this.#scanned.flatMap((ad) => {
      const kept = this.#kept.get(ad.block.identity);
      return kept ? [{ ad, kept }] : [];
    });
    await drawAdsOnPage(capture, draft, shown);
    this.#records.leavePage(draft, capture, this.#scanned, tab.tab);
    capture.journal.leaveOut((entry) => isRequestOfAds(entry, this.#scanned));
  }

  /** The page as it is, or loaded again. */
  async #fitPage(
    watch: ContextWatch,
    request: CaptureRequest & { ad_block: AdBlock },
    signal: AbortSignal,
    logger: Logger,
  ) {
    if (this.#page && (await this.#page.isFit())) return this.#page;
    this.#page = null;
    const { identity, slot_index } = request.ad_block;
    const later = this.#scanned.filter(({ block }) => block.slot_index > slot_index);
    const wanted = [identity, ...later.map(({ block }) => block.identity)];
    const loaded = await loadAgain(watch, request, wanted, signal, logger);
    if ('page' in loaded) this.#page = loaded.page;
    return 'page' in loaded ? loaded.page : loaded;
  }

  async #discard(): Promise<void> {
    const unused = [...this.#kept.values()].flatMap(({ files }) => files);
    this.#kept.clear();
    await removeFiles(unused);
  }
}
