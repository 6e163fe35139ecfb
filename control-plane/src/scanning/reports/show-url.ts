import { type Html, html } from './html.ts';

/** URLs longer than this are folded; the whole text is one click away. */
const SHOWN_MAX = 180;

/** A URL as text, never as a link: what a report names may be hostile. The host stands out; a long one unfolds. */
export function showUrl(url: string): Html {
  const { before, host, after } = splitUrl(url);
  const shown = html`<span class="dim">${before}</span><b>${host}</b><span class="dim">${after}</span>`;
  if (url.length <= SHOWN_MAX) return html`<bdi class="url">${shown}</bdi>`;
  const start = after.slice(0, Math.max(0, SHOWN_MAX - before.length - host.length));
  const folded = html`<span class="dim">${before.slice(0, SHOWN_MAX)}</span><b>${host}</b><span class="dim">${start}…</span>`;
  return html`<details class="url"><summary><bdi>${folded}</bdi> <span class="more">all ${url.length} characters</span></summary><bdi>${shown}</bdi></details>`;
}

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
