import { clipUrl } from '../session/urls.ts';

/** What two URLs have in common that are one to a page: Chromium asks for http pictures and media of an https page by https. Pure. */
export const addressOf = (url: string): string => (clipUrl(url).split('#')[0] as string).replace(/^https?:/i, '');

/** Whether two URLs are one to a page. Pure. */
export const sameAddress = (a: string, b: string): boolean => addressOf(a) === addressOf(b);
