import type { AdPart, CapturedTracker } from '@adsweep/shared/capture/vast.ts';
import { clipUrl, isOfServer } from '../session/urls.ts';
import type { DeclaredTracker } from './ad-trackers.ts';
import { FILLED_URL_MAX, fillMacros, type MacroContext } from './macros.ts';
import type { PlayerPage } from './player-page.ts';
import { absolute, baseUrl, type Resolution } from './wrapper-chain.ts';

/** Macro values of one request, beside those that are always known. */
export type Moment = Partial<Pick<MacroContext, 'playheadMs' | 'assetUrl' | 'errorCode' | 'reason' | 'click'>>;

/** Macro values of the ad that a tracker belongs to. */
export type AboutAd = Pick<MacroContext, 'podSequence' | 'adServingId' | 'universalAdIds'>;

const NO_AD: AboutAd = { podSequence: 1, adServingId: '', universalAdIds: [] };

export type Logged = CapturedTracker & Pick<DeclaredTracker, 'form'> & { declared: string };
/** A tracker that is to be requested now, at `url`, in ms since the capture began. */
export type DueTracker = { record: Logged; url: string; atMs: number; playheadMs: number | null };
type Declared = Omit<DeclaredTracker, 'part'> & { part: AdPart };

/**
 * The most trackers of one tag that are kept and requested: real ads have far fewer, and a page that requests more
 * plays nothing.
 */
const TRACKERS_MAX = 2_000;
/** The most characters of all requested URLs of an ad, or of all failed branches, together. */
const REQUESTED_LENGTH_MAX = 4_000_000;

/** All trackers of a capture: which were declared, which were requested, and when. Each is requested at most once. */
export class TrackerLog {
  readonly records: Logged[] = [];
  /** How many were declared beyond those that are kept. */
  leftOut = 0;
  readonly #page: PlayerPage;
  readonly #known: () => Omit<MacroContext, keyof Moment | keyof AboutAd>;
  readonly #ads = new Map<number | null, AboutAd>();
  readonly #startedAt: number;
  /** Characters of the URLs that were requested, by ad. */
  readonly #requestedLength = new Map<number | null, number>();

  /** `startedAt`: when the capture began, by `performance.now()`. */
  constructor(page: PlayerPage, startedAt: number, known: () => Omit<MacroContext, keyof Moment | keyof AboutAd>) {
    this.#page = page;
    this.#startedAt = startedAt;
    this.#known = known;
  }

  /** How many more trackers can be recorded. */
  get room(): number {
    return TRACKERS_MAX - this.records.length;
  }

  /**
   * Records declared trackers; `ad` is the index of their ad among those played, null = errors of a branch without an
   * ad. `leftOut`: how many more were declared.
   */
  declare(ad: number | null, trackers: readonly Declared[], leftOut = 0, about = NO_AD): void {
    this.#ads.set(ad, about);
    const kept = trackers.slice(0, this.room);
    this.leftOut += trackers.length - kept.length + leftOut;
    for (const { document, part, event, offset, url, form } of kept)
      this.records.push({
        ad,
        rung: document,
        part,
        event: event.slice(0, 300),
        offset: offset?.slice(0, 300) ?? null,
        url: clipUrl(url),
        declared: url,
        form,
        requested_url: '',
        requested_at_ms: null,
        playhead_ms: null,
        status_code: 0,
      });
  }

  /** Requests the trackers of an ad that `isDue` accepts and that were not requested yet. */
  async fire(ad: number | null, isDue: (tracker: Logged) => boolean, moment: Moment = {}): Promise<void> {
    const due = this.due(ad, isDue, moment);
    // Before the page answers: a page that is too busy to answer may request them later.
    this.requested(due);
    for (let at = 0; at < due.length; at += FIRED_AT_ONCE) {
      if (at > 0) await this.#page.pause(FIRED_PAUSE_MS);
      await this.#page.fire(due.slice(at, at + FIRED_AT_ONCE).map(({ url }) => url));
    }
  }

  /**
   * The trackers of an ad that are due, for callers that request them in another way and call {@link requested} then. A
   * URL that is none, as one with a macro of its own for a host, or too long, or with which those of the ad would be
   * too long together, is never requested.
   */
  due(ad: number | null, isDue: (tracker: Logged) => boolean, moment: Moment = {}): DueTracker[] {
    const atMs = Math.round(performance.now() - this.#startedAt);
    const due: DueTracker[] = [];
    let total = this.#requestedLength.get(ad) ?? 0;
    for (const record of this.records) {
      if (record.ad !== ad || record.requested_at_ms !== null || !isRequestable(record.declared) || !isDue(record))
        continue;
      const url = this.fill(ad, record.declared, moment);
      if (!URL.canParse(url) || total + url.length > REQUESTED_LENGTH_MAX) continue;
      total += url.length;
      const { playheadMs } = moment;
      due.push({
        record,
        url,
        atMs,
        playheadMs: playheadMs === undefined ? null : Math.max(0, Math.round(playheadMs)),
      });
    }
    return due;
  }

  /** Records that the page was told to request these. */
  requested(due: readonly DueTracker[]): void {
    for (const { record, url, atMs, playheadMs } of due) {
      this.#requestedLength.set(record.ad, (this.#requestedLength.get(record.ad) ?? 0) + url.length);
      record.requested_url = url;
      record.requested_at_ms = atMs;
      record.playhead_ms = playheadMs;
    }
  }

  /** A URL of an ad with its macros filled for this moment; `ad` null = no ad. */
  fill(ad: number | null, url: string, moment: Moment): string {
    const now = { playheadMs: 0, assetUrl: '', errorCode: null, reason: null, click: null };
    const about = this.#ads.get(ad) ?? NO_AD;
    return URL.parse(fillMacros(url, { ...this.#known(), ...about, ...now, ...moment }))?.href ?? url;
  }
}

const isRequestable = (url: string): boolean => url.length <= FILLED_URL_MAX && isOfServer(url);

/**
 * So many trackers are requested at once, and the next ones after a pause: each request takes several messages of the
 * browser, behind which those about the pages of others wait.
 */
const [FIRED_AT_ONCE, FIRED_PAUSE_MS] = [50, 200];

/** Requests the error URLs of an ad with a code, except those that were requested already (VAST 4.3, 2.3.6). */
export async function fireAdError(log: TrackerLog, ad: number, errorCode: number): Promise<void> {
  await log.fire(ad, ({ part, event }) => part === 'ad' && event === 'error', { errorCode });
}

/** Requests the error URLs of the branches of the wrapper chain that failed, each with its code (VAST 4.3, 2.3.6). */
export async function fireErrors(log: TrackerLog, resolution: Resolution): Promise<void> {
  for (const { code, lists } of resolution.errors) {
    const before = log.records.length;
    for (const { document, urls } of lists) {
      const declared = urls.slice(0, log.room).map((url) => ({
        document,
        part: 'document' as const,
        event: 'error',
        offset: null,
        form: null,
        url: absolute(url, baseUrl(resolution, document)),
      }));
      log.declare(null, declared, urls.length - declared.length);
    }
    const own = new Set<object>(log.records.slice(before));
    if (own.size > 0) await log.fire(null, (tracker) => own.has(tracker), { errorCode: code });
  }
}
