import { type Html, html } from './html.ts';

/** URLs longer than this are shortened in the middle of what is around the host; the whole text is one click away. */
const SHOWN_MAX = 120;
/** The least that is shown of what is around the host. */
const PART_MAX = 60;
/** How much of that is its end: a file's name, the last parameter. */
const END_LENGTH = 24;

/** A URL as text, never as a link: what a report names may be hostile. The host stands out; a long one unfolds. */
export function showUrl(url: string): Html {
  const { before, host, after } = splitUrl(url);
  const shown = (start: Html, end: Html) => html`${dim(start)}<b>${host}</b>${dim(end)}`;
  if (url.length <= SHOWN_MAX) return html`<bdi class="url">${shown(breakable(before), breakable(after))}</bdi>`;
  const start = shortened(before, PART_MAX);
  const end = shortened(after, Math.max(PART_MAX, SHOWN_MAX - start.length - host.length));
  return html`<details class="url"><summary><bdi>${shown(breakable(start), breakable(end))}</bdi> <span class="more">all ${url.length} characters</span></summary><bdi class="whole">${shown(html`${before}`, html`${after}`)}</bdi></details>`;
}

const dim = (text: Html): Html => html`<span class="dim">${text}</span>`;

const shortened = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - END_LENGTH)}…${text.slice(-END_LENGTH)}`;

/** A line may end after these signs; words between them stay whole as long as they fit into a line. */
const breakable = (text: string): Html =>
  html`${text.split(/(?<=[/?&=.,;_+~-])(?![/?&=.,;_+~-])/).map((part, at) => (at === 0 ? part : html`<wbr>${part}`))}`;

/** The parts around the host that a browser would really visit; a text that is no http(s) URL is all `before`. */
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
