import type { Page } from 'playwright-core';
import { NAVIGATION_MS } from '../session/budgets.ts';
import type { CaptureFailure, CaptureRequest } from '../session/capture-outcome.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import { causeText } from '../session/ending.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { settle } from '../session/settle.ts';
import { isOfServer } from '../session/urls.ts';
import type { CaptureTarget, Visited } from './target.ts';

/** A page: every tab is a landing, and the capture fails with the first one. */
export const url: CaptureTarget = { refusal, visit };

/** A browser opens file: and view-source: from its address bar; Chromium refuses them to pages. */
function refusal({ target }: CaptureRequest): CaptureFailure | null {
  const isWeb = isOfServer(URL.parse(target.value)?.href ?? '');
  return isWeb ? null : { code: 'navigation: BLOCKED_URL', cause: `not an http(s) URL: ${target.value.slice(0, 200)}` };
}

/** Loads a page as a visitor who came from the referrer would. */
async function visit(capture: MemberCapture, tab: OpenTab, { target, referrer }: CaptureRequest): Promise<Visited> {
  const { ending } = capture;
  const error = (await ending.race(navigate(tab.page, target.value, referrer))) ?? '';
  // Without a document there is nothing to wait for.
  const loops = error ? [] : await settle(capture);
  const isLoop = loops.some((one) => one.tab === tab.tab);
  const loop: CaptureFailure = { code: 'navigation: TOO_MANY_REDIRECTS', cause: 'a loop by script' };
  return { error, failure: isLoop ? loop : ending.failure, subject: tab };
}

/**
 * The error of the navigation, '' = a document loaded. A page that never finishes counts as loaded as soon as its
 * document begins.
 */
async function navigate(page: Page, url: string, referrer: string | null): Promise<string> {
  try {
    await page.goto(url, { waitUntil: 'commit', timeout: NAVIGATION_MS, ...(referrer && { referer: referrer }) });
    return '';
  } catch (error) {
    return causeText(error);
  }
}
