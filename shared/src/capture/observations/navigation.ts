import { Type } from 'typebox';
import { Count } from '../fields.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

/**
 * A document at `url` navigated its tab without a click: the final URL (of any scheme, '' = not known), how many ms
 * after the document had loaded, or was taken for loaded because it was parsed long before (0 = before that, or by
 * HTTP), and whether the browser refused it to a frame.
 */
export const AutoRedirectObservation = observationOf('auto_redirect', {
  to: ObservedUrl,
  after_load_ms: Count,
  refused: Type.Boolean(),
});

/** A download that a document or its frame started without a click: the URL of the file and the name it was given. */
export const AutoDownloadObservation = observationOf('auto_download', {
  file_url: ObservedUrl,
  file_name: Type.String({ maxLength: 300 }),
});

/** The most URLs of windows that are kept. */
export const POPUP_URLS_MAX = 5;

/**
 * Windows that a tab opened or tried to open: how many without a click and by the click that opened the most, how many
 * of them without a click, and the URLs of the first ones.
 */
export const PopupsObservation = observationOf('popups', {
  windows: Count,
  without_gesture: Count,
  urls: Type.Array(ObservedUrl, { maxItems: POPUP_URLS_MAX }),
});

/**
 * Entries that the page and its frames added to the history without a click: their number, how many of them have the
 * same URL as before, whether a script listens for Back, and the URL that going Back opened ('' = not tried, or no new
 * one).
 */
export const BackButtonObservation = observationOf('back_button', {
  pushes: Count,
  copies: Count,
  popstate_listener: Type.Boolean(),
  probe_url: ObservedUrl,
});

/** What is wrong with a certificate; `unknown`: Chromium refused it for another reason. */
const CERTIFICATE_PROBLEMS = [
  'expired',
  'not_yet_valid',
  'wrong_name',
  'self_signed',
  'untrusted_issuer',
  'unknown',
] as const;
export type CertificateProblem = (typeof CERTIFICATE_PROBLEMS)[number];

/**
 * A document came with a certificate that a visitor's browser would have warned of. `host` with its port where it is
 * not 443.
 */
export const InvalidCertificateObservation = observationOf('invalid_certificate', {
  host: Type.String({ maxLength: 300 }),
  reason: Type.Enum(CERTIFICATE_PROBLEMS),
});
