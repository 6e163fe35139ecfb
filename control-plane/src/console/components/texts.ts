import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { type Html, html, type Inserted } from '../../http/pages/html.ts';
import { STATUSES } from '../../scanning/reports/words.ts';

const TONES: Record<ScanStatus, string> = {
  pending: 'off',
  running: 'busy',
  crawled: 'busy',
  checking: 'busy',
  rechecking: 'busy',
  completed: 'clean',
  partial: 'medium',
  failed: 'high',
  cancelled: 'off',
};

const isStatus = (status: string): status is ScanStatus => Object.hasOwn(TONES, status);

/** The state of a scan. */
export const statusChip = (status: string): Html =>
  isStatus(status) ? chip(TONES[status], STATUSES[status]) : chip('off', status);

export const chip = (tone: string, text: Inserted): Html => html`<span class="chip ${tone}"><bdi>${text}</bdi></span>`;

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

/**
 * A time of the API in UTC, short: the clock today, the day too otherwise. A line breaks only between them. The whole
 * of it is in its title.
 */
export function showTime(at: string | null, now: Date): Html {
  const date = new Date(at ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return html`<span class="quiet">never</span>`;
  const isToday = date.toISOString().slice(0, 10) === now.toISOString().slice(0, 10);
  const year = date.getUTCFullYear() === now.getUTCFullYear() ? '' : ` ${date.getUTCFullYear()}`;
  const hour = unbroken(`${clock.format(date)} UTC`);
  const words = isToday ? hour : `${unbroken(`${day.format(date)}${year}`)}, ${hour}`;
  return html`<time datetime="${date.toISOString()}" title="${moment.format(date)} UTC">${words}</time>`;
}

const unbroken = (words: string): string => words.replaceAll(' ', '\u00a0');

/** `3 min ago`, `in 2 h`. */
export function agoWords(at: string, now: Date): string {
  const seconds = Math.round((now.getTime() - Date.parse(at)) / 1000);
  const size = Math.abs(seconds);
  const [count, unit] =
    size < 60
      ? [size, 's']
      : size < 3_600
        ? [Math.round(size / 60), 'min']
        : size < 129_600
          ? [Math.round(size / 3_600), 'h']
          : [Math.round(size / 86_400), 'days'];
  return seconds >= 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`;
}

export const number = (value: number): string => value.toLocaleString('en');
export const counted = (count: number, word: string, words = `${word}s`): string =>
  `${number(count)} ${count === 1 ? word : words}`;

/** Micros as an amount of the currency. */
export const money = (micros: number): string =>
  (micros / 1_000_000).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 });

/** The host of a URL; the text itself if it has none. */
export const hostOf = (url: string): string => URL.parse(url)?.host || url;

/** The first characters of a text. */
export const short = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;

/** What only those hear who do not see where it is. */
export const unseen = (text: Inserted): Html => html`<span class="unseen"> ${text}</span>`;

/** The first characters of an id. */
export const shortId = (id: string): Html => html`<code class="id">${id.slice(0, 8)}</code>`;
