import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { OpenTab } from './open-tabs.ts';

/** The mouse comes from this far up and left, in CSS pixels, in so many moves, and slows down on its way. */
const [AWAY_X, AWAY_Y, MOVES] = [70, 40, 5];
const MOVE_MS = 12;
/** How long the button or the finger stays down. */
const HOLD_MS = 70;

/** A point in the viewport of a tab, in CSS pixels. */
export type Point = { x: number; y: number };

/**
 * Clicks a point of a tab as a visitor does, or taps it on a touch device. An ad may take a click without a path and
 * without a hold for a robot's, and lead elsewhere. Resolves when the page has handled it; rejects when the tab is
 * closed.
 */
export async function clickAsVisitor({ page, tab }: OpenTab, hasTouch: boolean, point: Point): Promise<void> {
  if (hasTouch) await tap(tab, point);
  else await click(page, point);
}

async function click({ mouse }: Page, { x, y }: Point): Promise<void> {
  let arriving: Promise<void> = Promise.resolve();
  for (const place of pathTo({ x, y })) {
    // A busy page handles several moves at once, as it does a visitor's; the last one settles with those before it.
    arriving = mouse.move(place.x, place.y);
    arriving.catch(() => undefined);
    await pause(MOVE_MS);
  }
  await arriving;
  await mouse.down();
  await pause(HOLD_MS);
  await mouse.up();
}

/** The points by which the mouse reaches a point, itself the last. Pure. */
function pathTo({ x, y }: Point): Point[] {
  return Array.from({ length: MOVES }, (_, index) => {
    const left = (1 - (index + 1) / MOVES) ** 2;
    return { x: Math.max(0, x - AWAY_X * left), y: Math.max(0, y - AWAY_Y * left) };
  });
}

async function tap({ session }: OpenTab['tab'], point: Point): Promise<void> {
  const starting = session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point] });
  starting.catch(() => undefined);
  // A finger does not wait for the page: one that stays down for half a second is no tap.
  await pause(HOLD_MS);
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}
