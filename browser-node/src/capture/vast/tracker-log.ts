import type { AdPart, CapturedTracker } from '@adsweep/shared/capture/vast.ts';
import { clipUrl } from '../session/urls.ts';
import type { DeclaredTracker } from './declared-trackers.ts';
import { fillMacros, type MacroContext } from './macros.ts';
import type { PlayerPage } from './player-page.ts';

/** Macro values of one request, beside those that are always known. */
export type Moment = Partial<Pick<MacroContext, 'playheadMs' | 'assetUrl' | 'errorCode' | 'reason' | 'click'>>;

/** What is known of the ad that a tracker belongs to. */
export type AboutAd = Pick<MacroContext, 'podSequence' | 'adServingId' | 'universalAdIds'>;

const NO_AD: AboutAd = { podSequence: 1, adServingId: '', universalAdIds: [] };

export type Logged = CapturedTracker & Pick<DeclaredTracker, 'form'> & { declared: string };
type Declared = Omit<DeclaredTracker, 'part'> & { part: AdPart };

/** Trackers of one tag that are kept and asked for: no player has so many to tell, and a page that is flooded with them plays nothing. */
const TRACKERS_MAX = 2_000;

/** All trackers of a capture, declared against fired. Each is requested at most once. */
export class TrackerLog {
  readonly records: Logged[] = [];
  /** How many were declared beyond those that are kept. */
  leftOut = 0;
  readonly #page: PlayerPage;
  readonly #known: () => Omit<MacroContext, keyof Moment | keyof AboutAd>;
  readonly #ads = new Map<number | null, AboutAd>();
  readonly #startedAtMs: number;

  constructor(page: PlayerPage, startedAtMs: number, known: () => Omit<MacroContext, keyof Moment | keyof AboutAd>) {
    this.#page = page;
    this.#startedAtMs = startedAtMs;
    this.#known = known;
  }

  /** Writes down what is declared; `ad` is the place of its ad among those played, null = no ad came of it. */
  declare(ad: number | null, trackers: readonly Declared[], about = NO_AD): void {
    this.#ads.set(ad, about);
    const kept = trackers.slice(0, TRACKERS_MAX - this.records.length);
    this.leftOut += trackers.length - kept.length;
    for (const { rung, part, event, offset, url, form } of kept)
      this.records.push({
        ad,
        rung,
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

  /** Asks for those of an ad that were not asked for yet and that `isDue`; answers their URLs as they were asked for. */
  async fire(ad: number | null, isDue: (tracker: Logged) => boolean, moment: Moment = {}): Promise<string[]> {
    const urls = this.prepare(ad, isDue, moment);
    await this.#page.fire(urls);
    return urls;
  }

  /** Marks them as requested and returns their URLs, for callers that request them in another way. */
  prepare(ad: number | null, isDue: (tracker: Logged) => boolean, moment: Moment = {}): string[] {
    const due = this.records.filter(
      (record) =>
        record.ad === ad && record.requested_at_ms === null && isDue(record) && /^https?:/i.test(record.declared),
    );
    for (const record of due) {
      record.requested_url = this.fill(ad, record.declared, moment);
      record.requested_at_ms = Date.now() - this.#startedAtMs;
      record.playhead_ms = moment.playheadMs === undefined ? null : Math.max(0, Math.round(moment.playheadMs));
    }
    return due.map(({ requested_url }) => requested_url);
  }

  /** A URL of an ad with its macros filled for this moment; `ad` null = no ad's. */
  fill(ad: number | null, url: string, moment: Moment): string {
    const now = { playheadMs: 0, assetUrl: '', errorCode: null, reason: null, click: null };
    const about = this.#ads.get(ad) ?? NO_AD;
    return URL.parse(fillMacros(url, { ...this.#known(), ...about, ...now, ...moment }))?.href ?? url;
  }
}
