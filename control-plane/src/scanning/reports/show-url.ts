import { type Html, html } from '../../http/pages/html.ts';

/** Longer URLs are shortened before and after the host. */
const SHOWN_MAX = 120;
/** Characters that are shown at least of the parts before and after the host. */
const PART_MAX = 40;
/** How many of these are the end of the part, such as a file name or the last parameter. */
const END_LENGTH = 24;

/**
 * A URL as text, never as a link, because it may be hostile. The host is highlighted. A URL of more than `max`
 * characters is shortened; the reader can expand it.
 */
export function showUrl(url: string, max = SHOWN_MAX): Html {
  const { before, host, after } = splitUrl(url);
  const shown = (start: Html, end: Html) => html`${dim(start)}<b>${host}</b>${dim(end)}`;
  if (url.length <= max) return html`<bdi class="url">${shown(breakable(before), breakable(after))}</bdi>`;
  const start = shortened(before, PART_MAX);
  const end = shortened(after, Math.max(PART_MAX, max - start.length - host.length));
  const short = shown(breakable(start), breakable(end));
  return html`<div class="url">${folded(short, shown(html`${before}`, html`${after}`), url.length)}</div>`;
}

const dim = (text: Html): Html => html`<span class="dim">${text}</span>`;

const shortened = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - END_LENGTH)}…${text.slice(-END_LENGTH)}`;

/** The beginning of a text of `length` characters, which the reader can expand. */
export const folded = (short: Html, whole: Html, length: number): Html =>
  html`<details class="folded"><summary><bdi>${short}</bdi> <span class="more">all ${length} characters</span></summary><bdi class="whole">${whole}</bdi></details>`;

/** Allows line breaks after these characters and before an escaped byte, but not within words that fit into a line. */
export const breakable = (text: string): Html =>
  html`${text.split(/(?<=[/?&=.,;_+~-])(?![/?&=.,;_+~-])|(?=%)/).map((part, at) => (at === 0 ? part : html`<wbr>${part}`))}`;

/** Splits a URL around the host that a browser would visit; a text that is not an http(s) URL is all `before`. */
export function splitUrl(url: string): { before: string; host: string; after: string } {
  const parsed = URL.parse(url);
  const whole = { before: url, host: '', after: '' };
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') return whole;
  const authority = url.indexOf('//') + 2;
  const end = url.slice(authority).search(/[/?#\\]|$/) + authority;
  const start = Math.max(authority, url.lastIndexOf('@', end - 1) + 1);
  const written = url.slice(start, end).replace(/:\d*$/, '');
  if (written.toLowerCase() !== parsed.hostname) return whole;
  return { before: url.slice(0, start), host: url.slice(start, end), after: url.slice(end) };
}
