import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { findPlainPoint } from '../page-scripts/find-plain-point.ts';
import { ANSWER_MS } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import { documentOf, inRealmOf, listenersOf } from './event-listeners.ts';
import type { Landing } from './landings.ts';

const CLICKS = /^(click|auxclick|(mouse|pointer)(down|up)|touch(start|end))$/;

/** Whether a click anywhere in a tab's document runs a function whose own source matches `pattern`. */
export async function handlesClicksAnywhere({ tab: { session } }: Landing, pattern: RegExp): Promise<boolean> {
  const documentId = await documentOf({ session, frameId: session.targetId });
  for (const name of ['window', 'this', 'this.documentElement', 'this.body']) {
    const { objectId } = await inRealmOf(session, documentId, name);
    if (!objectId) continue;
    const listeners = await listenersOf(session, objectId);
    if (listeners.some(({ type, handler }) => CLICKS.test(type) && pattern.test(handler?.description ?? '')))
      return true;
  }
  return false;
}

/**
 * Clicks where a tab's document has nothing to click; does nothing where there is no such place. The capture's record ends with it, and
 * no page that the click asks for is loaded. Resolves when what the page reported meanwhile has arrived.
 */
export async function clickAnywhere({ open, journal }: CaptureSession, { page, tab }: Landing): Promise<void> {
  const { session } = tab;
  const point = await evaluateInIsolatedWorld(session, session.targetId, findPlainPoint, null, ANSWER_MS);
  if (!point) return;
  journal.close();
  // Aborted, and not blocked: Chromium then leaves the page as it is.
  await open.context.route('**/*', (route) => route.abort('aborted').catch(() => undefined));
  try {
    await page.mouse.click(point.x, point.y);
    await page.evaluate(() => null);
  } finally {
    await open.context.unroute('**/*');
  }
}
