import { DEMANDS, type Demand } from '@adsweep/shared/capture/observations/interruption.ts';
import type { Page } from 'playwright-core';
import { documentOf, inRealmOf, listenersOf, nodeOf } from '../devtools/event-listeners.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { findPlainPoint } from '../page-scripts/find-clickable.ts';
import { ANSWER_MS } from '../session/budgets.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Landing } from '../session/landings.ts';
import { probe } from '../session/probe.ts';
import { clickAsVisitor } from '../session/visitor-click.ts';
import type { Collector } from './collector.ts';

/** The source of a click handler that requests fullscreen. */
const FULLSCREEN = /full_?screen/i;

/**
 * Calls by which pages use a visitor's device or clipboard without a click. If a page-wide click handler mentions
 * fullscreen, an empty area is clicked once to see whether it requests that.
 */
export const unpromptedCalls: Collector = {
  name: 'unprompted_calls',
  start(capture) {
    const byItself = new Map<Page, Map<Demand, Set<string | null>>>();
    const afterClick = new Map<Page, Set<Demand>>();
    capture.reports.on('unprompted-call', (page, [name, byUser], frameId) => {
      const demand = DEMANDS.find((known) => known === name);
      if (!demand || (byUser !== 'true' && !capture.visit.isUnprompted(frameId))) return;
      if (byUser === 'true') afterClick.set(page, (afterClick.get(page) ?? new Set()).add(demand));
      else byItself.set(page, withCall(byItself.get(page), demand, frameId));
    });
    return async (draft, { subject }) => {
      for (const { page, ord, tab } of capture.landings.numbered())
        for (const [demand, frames] of byItself.get(page) ?? [])
          for (const frameId of frames) {
            const facts = { demand, trigger: 'none' } as const;
            draft.observations.push({ kind: 'unprompted_call', landing: ord, url: tab.url, facts, frameId });
          }
      const landing = capture.landings.shown().find(({ tab }) => tab === subject?.tab);
      if (!landing || byItself.get(landing.page)?.has('fullscreen')) return;
      const { url } = landing.tab;
      const scripts = draft.bodies.flatMap(
        ({ body: { resource_type, text } }) => (resource_type === 'script' && text) || [],
      );
      if (!(await requestsFullscreen(capture, landing, scripts, afterClick))) return;
      const facts = { demand: 'fullscreen', trigger: 'click_anywhere' } as const;
      draft.observations.push({ kind: 'unprompted_call', landing: landing.ord, url, facts, frameId: null });
    };
  },
};

/** The calls of a tab, each with the frames that made it, and one more. */
function withCall(
  calls: Map<Demand, Set<string | null>> = new Map(),
  demand: Demand,
  frameId: string | null,
): Map<Demand, Set<string | null>> {
  return calls.set(demand, (calls.get(demand) ?? new Set()).add(frameId));
}

/** Whether a click on an empty area makes the page request fullscreen. */
async function requestsFullscreen(
  capture: MemberCapture,
  landing: Landing,
  scripts: readonly string[],
  afterClick: Map<Page, Set<Demand>>,
): Promise<boolean> {
  if (landing.tab.isScriptDisabled || !(await handlesClicksAnywhere(landing, FULLSCREEN, scripts))) return false;
  afterClick.delete(landing.page);
  await clickAnywhere(capture, landing);
  return afterClick.get(landing.page)?.has('fullscreen') === true;
}

const CLICKS = /^(click|auxclick|(mouse|pointer)(down|up)|touch(start|end))$/;

/**
 * Whether a click anywhere in a tab's document runs a function whose own source matches `pattern`, or any function
 * while a script in the document or one of `scripts` matches: a listener may call another function. `scripts`: the
 * sources that the capture fetched.
 */
async function handlesClicksAnywhere(
  { tab: { session } }: Landing,
  pattern: RegExp,
  scripts: readonly string[],
): Promise<boolean> {
  const at = { session, frameId: session.targetId };
  const documentId = await documentOf(at);
  const { objectId: windowId } = await inRealmOf(session, documentId, 'window');
  let handles = false;
  for (const objectId of [windowId, documentId, await nodeOf(at, readRoot), await nodeOf(at, readBody)]) {
    if (!objectId) continue;
    const clicks = (await listenersOf(session, objectId)).filter(({ type }) => CLICKS.test(type));
    if (clicks.some(({ handler }) => pattern.test(handler?.description ?? ''))) return true;
    handles ||= clicks.length > 0;
  }
  if (!handles) return false;
  if (scripts.some((source) => pattern.test(source))) return true;
  return evaluateInIsolatedWorld(session, session.targetId, hasScriptLike, pattern.source, ANSWER_MS);
}

/** Run in the page, in an isolated world: elements of the page shadow properties of its document. */
const readRoot = (): Element | null => Reflect.get(Document.prototype, 'documentElement', document);
const readBody = (): Element | null => Reflect.get(Document.prototype, 'body', document);

/** Runs in the page, in an isolated world: whether an inline script of the document matches, in any letter case. */
const hasScriptLike = (source: string): boolean =>
  Array.from(Reflect.get(Document.prototype, 'scripts', document) as HTMLCollectionOf<HTMLScriptElement>).some(
    ({ text }) => new RegExp(source, 'i').test(text),
  );

/** Clicks an empty area of a tab's document, if there is one. Resolves when the page's reports have arrived. */
async function clickAnywhere(capture: MemberCapture, landing: Landing): Promise<void> {
  const { session } = landing.tab;
  const point = await evaluateInIsolatedWorld(session, session.targetId, findPlainPoint, null, ANSWER_MS);
  if (!point) return;
  await probe(capture, async () => {
    await clickAsVisitor(landing, false, point);
    await landing.page.evaluate(() => null);
  });
}
