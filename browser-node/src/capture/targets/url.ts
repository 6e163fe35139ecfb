import type { Page } from 'playwright-core';
import { afterwards, whileOpen } from '../collectors/index.ts';
import { NAVIGATION_MS } from '../session/budgets.ts';
import type { CaptureRequest } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { causeText } from '../session/ending.ts';
import { settle } from '../session/settle.ts';
import type { CaptureTarget, Visit } from './target.ts';

/** A page: all collectors run, every tab is a landing, and the capture is about the first one. */
export const url: CaptureTarget = {
  visit,
  collectors: { whileOpen, afterwards },
  landings: (tabs) => tabs,
  subject: ([own]) => own,
};

/** Loads a page as a visitor who came from the referrer would. */
async function visit(captureSession: CaptureSession, { target, referrer }: CaptureRequest): Promise<Visit> {
  // A browser opens file: and view-source: from its address bar; pages themselves are refused them by Chromium.
  if (!isWebUrl(target.value)) return blocked(`not an http(s) URL: ${target.value.slice(0, 200)}`);
  const page = await captureSession.ending.race(captureSession.open.context.newPage());
  if (!page) return { error: '', failure: captureSession.ending.failure };
  await captureSession.landings.first();
  const error = (await captureSession.ending.race(navigate(page, target.value, referrer))) ?? '';
  // Where no document came there is nothing to wait for.
  const rest = error ? 'settled' : await settle(captureSession);
  if (rest === 'loop') return { error, failure: { code: 'navigation: TOO_MANY_REDIRECTS', cause: 'a loop by script' } };
  return { error, failure: captureSession.ending.failure };
}

/** The error of the navigation, '' = a document loaded. A page that never finishes counts as loaded as soon as its document begins. */
async function navigate(page: Page, url: string, referrer: string | null): Promise<string> {
  try {
    await page.goto(url, { waitUntil: 'commit', timeout: NAVIGATION_MS, ...(referrer && { referer: referrer }) });
    return '';
  } catch (error) {
    return causeText(error);
  }
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const blocked = (cause: string): Visit => ({ error: '', failure: { code: 'navigation: BLOCKED_URL', cause } });
