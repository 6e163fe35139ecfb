import type { Answer } from '../../http/route.ts';

/**
 * Everything that a page needs comes from this service; no script in a page runs, no form leads elsewhere, no other
 * page shows it.
 */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // Without a referrer a browser would not say either from which page a form comes.
  'Referrer-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex, nofollow',
};

export type ConsoleAnswers = {
  /** A page with the headers that protect it. */
  page: (status: number, body: string, headers?: Record<string, string>) => Answer;
  redirect: (to: string, headers?: Record<string, string>) => Answer;
};

/** The answers of a console that browsers reach over an encrypted connection, or not. */
export function consoleAnswers(isSecure: boolean): ConsoleAnswers {
  // Browsers report this header as a mistake where the connection is not encrypted.
  const isolation: Record<string, string> = isSecure ? { 'Cross-Origin-Opener-Policy': 'same-origin' } : {};
  return {
    page: (status, body, headers = {}) => ({
      status,
      body,
      type: 'text/html; charset=utf-8',
      headers: { ...PAGE_HEADERS, ...isolation, ...headers },
    }),
    redirect: (to, headers = {}) => ({ status: 303, body: '', headers: { ...headers, Location: to } }),
  };
}
