import { availableParallelism, loadavg } from 'node:os';

/**
 * All limits on the time and size of a capture, in one place. Times in ms. A page has 90 s, an ad 120 s (`JOB_LIMITS`);
 * the sum of these limits stays below that, so that a slow page still yields its evidence.
 */

/**
 * From the request to the first byte of a document, over all its HTTP redirects. Slow exits need 10 s for a chain of
 * five.
 */
export const NAVIGATION_MS = 25_000;
/**
 * From there until the page has settled. A page that never does (long polls, endless responses) is captured as it is
 * then.
 */
export const SETTLE_MS = 12_000;
/** Added to it, once, if the machine is slow and not the page. */
export const SETTLE_EXTENSION_MS = 6_000;
/**
 * A page that keeps navigating, or waits for a flood of requests, is watched for up to this many times
 * {@link SETTLE_MS}.
 */
export const SETTLE_FACTOR_MAX = 2.5;
/** More pending requests than this are a flood: later requests of the page have to wait for them. */
export const FLOOD_REQUESTS = 100;
/** Quiet: no request has started or finished for this long. Playwright's networkidle uses the same time. */
export const QUIET_MS = 500;
/**
 * A loaded tab is watched for at least this long, for timers that navigate. The longest that cloakers were seen to use
 * is about 1 s.
 */
export const DWELL_MS = 1_500;
/**
 * A loaded tab is watched for this long, if its scripts have long timers, workers or requests that are not answered.
 */
export const LATE_MS = 5_000;
/**
 * A document that has not loaded this long after it was parsed is taken for loaded: visitors see it. One that waits for
 * a script is not parsed.
 */
export const LOADED_AT_LATEST_MS = 2_000;
/**
 * A document that has not loaded this long after it first showed something is shown to visitors as it is: what it waits
 * for may never come.
 */
export const SHOWN_AT_LATEST_MS = 5_000;
/** The least time between two checks whether the tabs have settled. */
export const SETTLE_CHECK_MS = 50;
/**
 * Documents of a tab that are looked at as a visitor does as soon as they have loaded; of later ones, those that stay:
 * a redirect chain has many.
 */
export const LOOKS_MAX = 3;
/** A request that is pending longer than this is a stream or a long poll, which a page may have open and be settled. */
export const LONG_REQUEST_MS = 3_000;
/**
 * How long to wait for the first response in a tab that opened: click trackers can be slow, and are requested only
 * once.
 */
export const FIRST_ANSWER_MS = 10_000;
/** A refresh that is announced for later than this is not waited for. */
export const ANNOUNCED_REFRESH_MAX_MS = 8_000;

/** How long a placement that stays empty is watched, once its page has settled: auctions take up to 3 s. */
export const EMPTY_PLACEMENT_MS = 5_000;

/** How long a creative on which nothing looks clickable is watched for something that does. */
export const LATE_CLICKABLE_MS = 4_000;
/** How long a click on a creative is watched for what it opens. */
export const CLICK_MS = 1_500;
/** How long a page may take to handle a click. */
export const CLICKED_MS = 4_000;
/** How long the check for elements that open nothing may click; its last click may take longer. */
export const INTERACTIVE_CHECK_MS = 10_000;

/**
 * How long a renderer may take to answer a trivial call; after that its scripts are stopped, so that the page can be
 * inspected.
 */
export const ANSWER_MS = 2_000;
/** All collectors that run while the tabs are open, together; each has a budget of its own besides. */
export const COLLECT_MS = 20_000;
/**
 * The screenshot of one landing. A page 16,383 pixels high takes 1 to 2 s, one of 300,000 pixels (of which 16,383 are
 * kept) 4 s.
 */
export const SCREENSHOT_MS = 10_000;
/**
 * For a screenshot of any part, Chromium lays out and paints the whole page, 10 s per million pixels of text: of higher
 * pages, only the viewport is taken.
 */
export const SCREENSHOT_HEIGHT_MAX = 300_000;
/** Scrolling through a page so that it loads lazy content. */
export const SCROLL_MS = 4_000;
/** Scrolling through a page as a reader does, so that its ads load. */
export const READ_THROUGH_MS = 10_000;
/** From there until what that loaded has settled. */
export const LATE_SLOTS_MS = 6_000;
/**
 * The screenshots and markup of all ads of a page, before any is clicked: ads whose frames do not answer take 20 s
 * each.
 */
export const KEEP_ADS_MS = 40_000;
/** How long the Back probe waits for a navigation. */
export const PROBE_MS = 2_500;
/** How long a document's unload handlers may take. */
export const UNLOAD_MS = 2_000;
/** After the tabs were closed, their last beacons have passed when the gateway was quiet for this long. */
export const LEAVE_QUIET_MS = 250;
/** How long to wait for that. */
export const LEAVE_MAX_MS = 6_000;
/** How long the gateway may take to report the traffic: longer than the client's own timeout. */
export const TRAFFIC_MS = 6_000;

/**
 * A main thread that seems busy after load is watched for this long, and again if it is not certain; workers for that
 * long, if they compute at a glance.
 */
export const MAIN_THREAD_WATCHED_MS = 4_200;
export const MAIN_THREAD_WATCHED_AGAIN_MS = 3_000;
export const WORKERS_WATCHED_MS = 3_000;
export const WORKERS_GLANCE_MS = 250;
/** From this share of the time on, a main thread is busy enough to be watched for longer and to be reported. */
export const BUSY_SHARE_SUSPECT = 0.6;
export const BUSY_SHARE_CERTAIN = 0.8;
/** Workers of a tab that are watched. */
export const WORKERS_PROFILED_MAX = 8;
/** Frames that loaded this many bytes are reported, and so many per tab. */
export const CONSPICUOUS_FRAME_BYTES = 2_000_000;
export const HEAVY_FRAMES_MAX = 5;

/** Dialogs after which a page's script is stopped: a loop of alerts shows hundreds per second. */
export const DIALOGS_MAX = 5;
/** How long each dialog beyond that is left open. */
export const DIALOG_PAUSE_MS = 250;
/** Frames of a landing that are inspected, and characters of each document's HTML and text. */
export const FRAMES_MAX = 40;
export const HTML_LENGTH_MAX = 1_000_000;
export const TEXT_LENGTH_MAX = 200_000;
/** Characters of all documents of a capture together. */
export const DOCUMENTS_LENGTH_MAX = 12_000_000;
export const CONTENT_TYPE_LENGTH_MAX = 200;
export const TITLE_LENGTH_MAX = 1_024;
/** Hops of one landing. Chromium ends an HTTP chain after 20; we end one by script after 40. */
export const HOPS_MAX = 200;
export const OBSERVATIONS_MAX = 200;
/** Attempts to play sound that are kept per tab. */
export const ATTEMPTS_MAX = 10;

const LOAD_FACTOR_MAX = 2;
/**
 * Bounds of a capture older than this are no longer extended: a page that never settles must not get more time at every
 * step.
 */
const EXTENDED_UNTIL_MS = 30_000;
const MEASURED_MS = 1_000;

/**
 * An upper bound in ms, extended while more processes are runnable than there are cores: waiting for a condition must
 * not end early because another capture is busy. A condition that is met takes no longer. `startedAt`: when the capture
 * began, by `performance.now()`.
 */
export const underLoad = ({ startedAt }: { startedAt: number }, ms: number): number =>
  extendedBound(ms, machineLoadFactor(), performance.now() - startedAt);

let measured = { at: Number.NEGATIVE_INFINITY, loadFactor: 1 };

/**
 * The factor by which this machine is overloaded ({@link loadFactor}), at most a second old: a capture asks dozens of
 * times, and each measurement reads files of the system.
 */
export function machineLoadFactor(): number {
  const now = performance.now();
  if (now - measured.at >= MEASURED_MS)
    measured = { at: now, loadFactor: loadFactor(loadavg()[0] ?? 0, availableParallelism()) };
  return measured.loadFactor;
}

/**
 * The factor by which upper bounds are extended at a load average of `load` (runnable processes, over one minute).
 * Pure.
 */
export const loadFactor = (load: number, cores: number): number => Math.min(LOAD_FACTOR_MAX, Math.max(1, load / cores));

/** A bound of `ms`, extended by `factor` as far as the age `ageMs` of its capture allows. Pure. */
export const extendedBound = (ms: number, factor: number, ageMs: number): number =>
  Math.max(ms, Math.min(ms * factor, EXTENDED_UNTIL_MS - ageMs));
