import { DAY_MS } from './durations.ts';

/** Every number of spec section 8 that this version enforces, with the section that requires it. */

/** Unique domains of the chain left out of detection: spec 4.2 rule 11. */
export const IGNORE_FIRST_N_DOMAINS_MAX = 5;
/** Ads a sweep may turn into child scans: spec 2.1. */
export const DISCOVERED_ADS_MAX = 25;
/** The same, where the request does not say: spec 2.1. */
export const DISCOVERED_ADS_DEFAULT = 12;
/** Scans in one repeat group: spec 2.1. */
export const REPEAT_COUNT_MAX = 20;
/** Further attempts after a transient failure: spec 2.1. */
export const RETRY_ATTEMPTS_MAX = 5;
/** Characters of a referrer after normalisation: spec 4.2. */
export const REFERRER_LENGTH_MAX = 2048;
/** Pixels a client may ask a screenshot to be wide: spec 4.3. */
export const SCREENSHOT_WIDTH_MIN = 100;
export const SCREENSHOT_WIDTH_MAX = 1200;
/** A resized page or landing screenshot is cropped at this many times its width: spec 4.3. */
export const SCREENSHOT_CROP_RATIO = 2.5;
/** The longest side WebP can hold is 16383 pixels; a screenshot stops there. */
export const WEBP_SIDE_MAX = 16_383;
/** Pixels of a screenshot: more than the longest page on the widest device has. */
export const PICTURE_PIXELS_MAX = WEBP_SIDE_MAX * 4096;
/** Request URLs that reach the fresh evaluation: spec 8. */
export const REQUEST_URLS_MAX = 5_000;
/** Sub-requests stored with a scan: spec 8. */
export const STORED_SUB_REQUESTS_MAX = 200;
/** Sub-resource contents of a scan: spec 8. */
export const BODIES_MAX = 400;
export const BODY_BYTES_MAX = 128 * 1024;
export const BODIES_BYTES_MAX = 8 * 1024 * 1024;
/** The largest script or document that is read for excerpts. */
export const EXCERPTED_BYTES_MAX = 2 * 1024 * 1024;
/** The same for all of a capture together. */
export const EXCERPTED_BYTES_SUM_MAX = 32 * 1024 * 1024;
/**
 * A capture as JSON (RFC 8259, UTF-8), in bytes, without its artifacts: what a node may send and the node API reads. At
 * this size its parsing and checking holds the event loop for some 30 ms.
 */
export const CAPTURE_BYTES_MAX = 4 * 1024 * 1024;
/** The part of these bytes that the requests may take; the rest is for landings, observations and notes. */
export const CAPTURE_REQUESTS_BYTES_MAX = 3 * 1024 * 1024;
/** Values (members and elements, containers included) of a capture: some 60,000 are five thousand requests. */
export const CAPTURE_VALUES_MAX = 100_000;
/** Characters of a URL in a capture, in any field. Chromium accepts 2 million; most servers accept 8,192. */
export const CAPTURE_URL_LENGTH_MAX = 8_192;
/** How long sub-resource contents are kept: spec 8. */
export const BODY_LIFETIME_MS = DAY_MS;
/** A request body of the API. Larger: 413. */
export const API_BODY_BYTES_MAX = 1_048_576;
/** Values (members and elements, containers included) of a request body of the API. More: 422. */
export const API_BODY_VALUES_MAX = 5_000;
/** Items of a refused field's `valid_sample`: spec 2.4. */
export const VALID_SAMPLE_MAX = 5;
/** Rows of one page of a list. */
export const PAGE_LIMIT_MAX = 200;
export const PAGE_LIMIT_DEFAULT = 50;
/** Labels of one scan. */
export const LABELS_MAX = 20;
export const LABEL_VALUE_LENGTH_MAX = 255;
/** A target given as text (ad tag, VAST document, URL). */
export const TARGET_LENGTH_MAX = 500_000;
/** Characters of a VAST document that is read, fetched or sent. */
export const VAST_LENGTH_MAX = TARGET_LENGTH_MAX;
/** Navigations by script before a page counts as a loop. */
export const SCRIPT_NAVIGATIONS_MAX = 40;
/** How often a scan that ran alone on a lost node is queued again, without using up its own retries. */
export const LOST_NODE_REQUEUES_MAX = 3;
/** How often a scan is queued again after lost nodes, alone or not. */
export const LOST_REQUEUES_HARD_MAX = 10;
