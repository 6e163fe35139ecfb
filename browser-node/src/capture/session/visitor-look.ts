import { setTimeout as pause } from 'node:timers/promises';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { ANSWER_MS } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import type { OpenTab } from './open-tabs.ts';

/** When a page is looked at, in ms after its load: by then it listens. */
const LOOK_AFTER_MS = 350;
const STEP_MS = 25;
/** How long a page may take to handle one input; it is not waited for after that. */
const HANDLED_MS = 300;
/** How long a page may take to react to what the visitor does. */
const REACTION_MS = 150;
/**
 * Where the mouse moves, as shares of the viewport. It ends in a margin, and never near the top, where a visitor leaves
 * a page.
 */
const PATH = [
  [0.08, 0.12],
  [0.14, 0.2],
  [0.22, 0.31],
  [0.34, 0.42],
  [0.5, 0.5],
  [0.4, 0.61],
  [0.2, 0.74],
  [0.006, 0.86],
] as const;
/** How far the page is scrolled, as a share of the viewport's height. */
const SCROLLED = 0.6;
/** Where a finger swipes, as shares of the viewport's height. */
const SWIPE = [0.35, 0.38, 0.44, 0.5, 0.57, 0.65] as const;

/**
 * Does in a tab what a visitor does first: moves the mouse along a path, or swipes with a finger, and scrolls down and
 * back up. Pages show things then that they hide before. None of it is a user gesture (HTML standard, "activation
 * triggering input event"): what pages do in response they do without a click. Input is not waited for if the page is
 * busy. Never throws.
 *
 * Wheel and finger move towards the top of the page, where it is already: when Chromium itself scrolls a page, it
 * handles no further input of that page for a second.
 */
export async function lookAsVisitor(session: CaptureSession, tab: OpenTab): Promise<void> {
  const view = tab.page.viewportSize();
  if (!view) return;
  await session.ending.race(pause(Math.max(0, (tab.tab.loadedAt ?? 0) + LOOK_AFTER_MS - performance.now())));
  if (await hasTouch(tab)) await swipe(session, tab, view);
  else await moveMouse(session, tab, view);
  const { session: target } = tab.tab;
  const scrolling = evaluateInIsolatedWorld(target, target.targetId, scrollDownAndUp, SCROLLED, HANDLED_MS);
  await session.ending.race(scrolling.catch(() => undefined));
  await session.ending.race(pause(REACTION_MS));
}

type Size = { width: number; height: number };

/** Whether the device of a tab is used with fingers. A page that does not answer gets a mouse, which does no harm. */
export async function hasTouch({ tab: { session } }: OpenTab): Promise<boolean> {
  return evaluateInIsolatedWorld(session, session.targetId, detectTouch, null, ANSWER_MS).catch(() => false);
}

/** Runs in the page, in an isolated world. */
const detectTouch = (): boolean => navigator.maxTouchPoints > 0 && matchMedia('(pointer: coarse)').matches;

async function moveMouse(session: CaptureSession, { tab }: OpenTab, { width, height }: Size): Promise<void> {
  let place = { x: 0, y: 0 };
  for (const [right, down] of PATH) {
    place = { x: Math.round(width * right), y: Math.round(height * down) };
    const moved = tab.session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...place });
    if (!(await isHandled(session, moved))) return;
    await session.ending.race(pause(STEP_MS));
  }
  const wheel = { type: 'mouseWheel', ...place, deltaX: 0, deltaY: -height * SCROLLED } as const;
  await isHandled(session, tab.session.send('Input.dispatchMouseEvent', wheel));
}

/** The touch is cancelled in the end: one that ends without having scrolled may be a user gesture. */
async function swipe(session: CaptureSession, { tab }: OpenTab, { width, height }: Size): Promise<void> {
  const x = Math.round(width / 2);
  for (const [index, down] of SWIPE.entries()) {
    const type = index === 0 ? 'touchStart' : 'touchMove';
    const touchPoints = [{ x, y: Math.round(height * down) }];
    if (!(await isHandled(session, tab.session.send('Input.dispatchTouchEvent', { type, touchPoints })))) break;
    await session.ending.race(pause(STEP_MS));
  }
  await isHandled(session, tab.session.send('Input.dispatchTouchEvent', { type: 'touchCancel', touchPoints: [] }));
}

/** Whether the page handles an input soon; a busy one does not. */
async function isHandled({ ending }: CaptureSession, input: Promise<unknown>): Promise<boolean> {
  const handling = input.then(
    () => true,
    () => false,
  );
  return (await ending.race(Promise.race([handling, pause(HANDLED_MS, false)]))) ?? false;
}

/**
 * Runs in the page, in an isolated world: scrolls down by `share` of the viewport's height and back, once the page
 * could draw what is there.
 */
async function scrollDownAndUp(share: number): Promise<void> {
  const drawn = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(resolve));
      setTimeout(resolve, 100);
    });
  const [left, top] = [scrollX, scrollY];
  scrollTo({ left, top: top + innerHeight * share, behavior: 'instant' });
  await drawn();
  scrollTo({ left, top, behavior: 'instant' });
  await drawn();
}
