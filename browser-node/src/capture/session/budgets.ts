/**
 * How long and how much a capture may take, in one place. Times in ms. A page has 90 s, an ad 120 s (`JOB_LIMITS`): all of these together stay
 * below it, so that a slow page still yields its evidence.
 */

/** From the request to the first byte of a document, over all its HTTP redirects. Slow exits need 10 s for a chain of five. */
export const NAVIGATION_MS = 25_000;
/** From there to a page that has come to rest. Pages that never do (long polls, endless answers) are taken as they are then. */
export const SETTLE_MS = 12_000;
/** Added to it, once, where the machine is late and not the page. */
export const SETTLE_EXTENSION_MS = 6_000;
/** A page that leads on and on, or works off a flood of requests, is watched for up to this many times {@link SETTLE_MS}. */
export const SETTLE_FACTOR_MAX = 2.5;
/** More requests under way than this are a flood: what the page asks for behind them has to wait for its turn. */
export const FLOOD_REQUESTS = 100;
/** At rest: nothing asked for and nothing finished for this long. Playwright's networkidle uses the same. */
export const QUIET_MS = 500;
/** A tab that was loaded is watched at least this long, for timers that lead on. The longest that cloakers were seen to use is about 1 s. */
export const DWELL_MS = 1_500;
/** A request that runs longer than this no longer counts as unrest: streams and long polls. */
export const LONG_REQUEST_MS = 3_000;
/** A refresh announced for later than this is not waited for. */
export const ANNOUNCED_REFRESH_MAX_MS = 8_000;

/** How long a placement that stays empty is watched, once its page has come to rest: auctions take up to 3 s. */
export const EMPTY_PLACEMENT_MS = 5_000;

/** How long a creative on which nothing looks clickable is watched for what does. */
export const LATE_CLICKABLE_MS = 4_000;
/** How long a click on a creative is watched for what it opens. */
export const CLICK_MS = 1_500;
/** How long the first answer of a tab that a click opened is waited for: click trackers can be slow, and are asked once. */
export const FIRST_ANSWER_MS = 10_000;

/** Answer of a page's renderer to a trivial question; later, its script is stopped so that it can be looked at. */
export const ANSWER_MS = 2_000;
/** All that is collected while the tabs are open, each collector's own budget aside. */
export const COLLECT_MS = 20_000;
/** The picture of one landing. A page of 16,383 pixels takes 1 to 2 s, one of 300,000 pixels (of which 16,383 are kept) 4 s. */
export const SCREENSHOT_MS = 10_000;
/** Chromium lays out and paints all of a page for a picture of any of it, 10 s per million pixels of text: beyond this, only what is in view. */
export const PICTURED_HEIGHT_MAX = 300_000;
/** Scrolling through a page for what it loads when seen. */
export const SCROLL_MS = 2_500;
/** How long the active Back probe watches where it leads. */
export const PROBE_MS = 2_500;
/** A document's own handlers of leaving. */
export const UNLOAD_MS = 2_000;
/** The gateway has been quiet for this long after the tabs were closed: their last beacons have passed. */
export const LEAVE_QUIET_MS = 250;
/** How long that is waited for. */
export const LEAVE_MAX_MS = 6_000;
/** The gateway's answer to what it carried: longer than the client waits for it. */
export const TRAFFIC_MS = 6_000;

/** A main thread that seems busy after load is watched for this long; workers beside a WebSocket for that long. */
export const MAIN_THREAD_WATCHED_MS = 4_200;
export const WORKERS_WATCHED_MS = 3_000;
/** A main thread is busy enough to be watched for longer, and to be told of, from this share of the time on. */
export const BUSY_SHARE_SUSPECT = 0.6;
/** Workers of a tab that are watched. */
export const WORKERS_PROFILED_MAX = 8;
/** Frames that weigh this much, in bytes, are told of: of each tab so many. */
export const CONSPICUOUS_FRAME_BYTES = 2_000_000;
export const HEAVY_FRAMES_MAX = 5;

/** Dialogs after which a page's script is stopped: a loop of alerts shows hundreds per second. */
export const DIALOGS_MAX = 5;
/** How long each dialog beyond that is left open. */
export const DIALOG_PAUSE_MS = 250;
/** Frames of a landing whose documents are kept, and characters of each document's HTML and text. */
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
/** Attempts to play sound of one tab that are kept. */
export const ATTEMPTS_MAX = 10;
