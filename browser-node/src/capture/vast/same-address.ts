import { clipUrl } from '../session/clip-url.ts';

/** Whether two URLs are one to a page: Chromium asks for http pictures and media of an https page by https. Pure. */
export const sameAddress = (a: string, b: string): boolean => bare(a) === bare(clipUrl(b));
const bare = (url: string): string => (url.split('#')[0] as string).replace(/^https?:/i, '');
