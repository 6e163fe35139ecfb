import { setTimeout as pause } from 'node:timers/promises';
import { evaluateInWorld } from '../devtools/isolated-world.ts';
import { frameUnder } from '../harness/clickables.ts';
import type { CreativePage } from '../harness/harness-page.ts';
import type { MeasuredFrame } from '../harness/measure-frames.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { Tab } from '../session/tab.ts';
import type { Point } from '../session/visitor-click.ts';

const EVERY_MS = 100;

/**
 * Moves the mouse over a point of the viewport, or touches it with a finger that slips off, until the frame that is
 * shown there notices it. Some time after a page has scrolled, Chromium still gives input to the frame of another
 * process that was there before: a click would reach another ad, or none. Resolves after a while if the frame never
 * notices it. Never throws.
 */
export async function pointAt(
  session: CaptureSession,
  { tab: { tab }, hasTouch }: CreativePage,
  frames: readonly MeasuredFrame[],
  point: Point,
): Promise<void> {
  const frame = frameUnder(frames, point);
  if (!frame || frame.world === null) return;
  const deadlineMs = underLoad(session, ANSWER_MS);
  const noticed = { type: hasTouch ? 'touchstart' : 'mousemove', mostMs: deadlineMs };
  let isOver = false;
  const noticing = evaluateInWorld(frame.at.session, frame.world, noticeInput, noticed, 2 * deadlineMs)
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  for (let time = 0; !isOver && !session.ending.failure; time += 1) {
    if (hasTouch) await touch(tab, point, noticing);
    else move(tab, point, time);
    await Promise.race([noticing, pause(EVERY_MS)]);
  }
}

/** The mouse has to move, not only to be there. */
function move({ session }: Tab, { x, y }: Point, time: number): void {
  session.notify('Input.dispatchMouseEvent', { type: 'mouseMoved', x: x + (time % 2), y });
}

/** A touch that is cancelled is neither a click nor a user gesture. */
async function touch({ session }: Tab, point: Point, noticing: Promise<unknown>): Promise<void> {
  session.notify('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point] });
  await Promise.race([noticing, pause(EVERY_MS)]);
  session.notify('Input.dispatchTouchEvent', { type: 'touchCancel', touchPoints: [] });
}

/** Runs in a frame, in an isolated world: resolves when input of a type reaches it, or after `mostMs`. */
function noticeInput({ type, mostMs }: { type: string; mostMs: number }): Promise<void> {
  return new Promise((resolve) => {
    const notice = ({ isTrusted }: Event) => {
      if (isTrusted) resolve();
    };
    // An element of the page can have the name of a method of event targets.
    const { addEventListener, removeEventListener } = EventTarget.prototype;
    addEventListener.call(globalThis, type, notice, { capture: true, passive: true });
    setTimeout(resolve, mostMs);
    setTimeout(() => removeEventListener.call(globalThis, type, notice, true), mostMs);
  });
}
