import type { Page } from 'playwright-core';
import { frameOf, type OwnAnswer } from './page-loads.ts';
import { namesHost } from './publisher-url.ts';

/**
 * `url`: the publisher's address; `fragment`: what the page's location has behind it; `markup`: the page; `named`: the text of the tag,
 * whose own hosts may be asked for.
 */
export type StagePage = { url: string; fragment: string; markup: string; named: string };

const HEADERS = {
  // What browsers do by themselves; a creative's own page may not be asked for anything else.
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cache-control': 'no-store',
};

/** Answers for the publisher: its page with ours, and with nothing what a creative asks of its host, unless the tag names that host. */
export function publisherAnswer(page: Page, { url, markup, named }: StagePage): OwnAnswer {
  const { host } = new URL(url);
  const isNamed = namesHost(named, host);
  return (request) => {
    const frame = frameOf(request);
    if (frame?.page() !== page) return null;
    const asked = URL.parse(request.url());
    if (frame === page.mainFrame() && request.isNavigationRequest()) {
      const isPage = asked?.href.split('#')[0] === new URL(url).href.split('#')[0];
      return isPage ? { status: 200, contentType: 'text/html; charset=utf-8', headers: HEADERS, body: markup } : null;
    }
    return asked?.host === host && !isNamed ? { status: 204, contentType: 'text/plain', headers: {}, body: '' } : null;
  };
}
