import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { findPlainPoint } from '../page-scripts/find-plain-point.ts';
import { ANSWER_MS } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import { documentOf, inRealmOf, listenersOf } from './event-listeners.ts';
import type { Landing } from './landings.ts';

const CLICKS = /^(click|auxclick|(mouse|pointer)(down|up)|touch(start|end))$/;

/**
 * Whether a click anywhere in a tab's document runs a function whose own source matches `pattern`, or any function while a script in the
 * document or one of `scripts` does: a listener may leave it to another function. `scripts`: the sources that the capture fetched.
 */
export async function handlesClicksAnywhere(
  { tab: { session } }: Landing,
  pattern: RegExp,
  scripts: readonly string[],
): Promise<boolean> {
  const documentId = await documentOf({ session, frameId: session.targetId });
  let handles = false;
  for (const name of ['window', 'this', 'this.documentElement', 'this.body']) {
    const { objectId } = await inRealmOf(session, documentId, name);
    if (!objectId) continue;
    const clicks = (await listenersOf(session, objectId)).filter(({ type }) => CLICKS.test(type));
    if (clicks.some(({ handler }) => pattern.test(handler?.description ?? ''))) return true;
    handles ||= clicks.length > 0;
  }
  if (!handles) return false;
  if (scripts.some((source) => pattern.test(source))) return true;
  return evaluateInIsolatedWorld(session, session.targetId, hasScriptLike, pattern.source, ANSWER_MS);
}

/** Runs in the page, in a world of its own: whether a script that stands in the document matches, in any letter case. */
const hasScriptLike = (source: string): boolean =>
  Array.from(document.scripts).some(({ text }) => new RegExp(source, 'i').test(text));

/**
 * Clicks a place of a tab's document where there is nothing to click; does nothing if there is no such place. The capture's record ends with
 * it, and no page that the click navigates to is loaded. Resolves when what the page reported meanwhile has arrived.
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
