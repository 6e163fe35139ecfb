import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import { evaluateInWorld } from '../devtools/isolated-world.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { Point } from '../session/visitor-click.ts';
import { framesAround } from './clickables.ts';
import type { MeasuredFrame } from './measure-frames.ts';

/** In the place of a frame's count: it did not answer, or shows another document than the one that was measured. */
const [SILENT, GONE] = [-1, -2];

/**
 * Whether Chromium delivers clicks to the frame that is shown where they are made. For a while after a page has
 * scrolled, and for longer on a busy machine, it drops some or gives them, or their press alone, to another frame. The
 * listeners that count them are in isolated worlds, which no page sees.
 */
export class ClickDelivery {
  readonly #session: CaptureSession;
  readonly #frames: readonly MeasuredFrame[];
  #before: number[] = [];

  /** `frames`: of the tab that is clicked, as they were measured. */
  constructor(session: CaptureSession, frames: readonly MeasuredFrame[]) {
    this.#session = session;
    this.#frames = frames;
  }

  /** To be called before a click at a point. Never throws. */
  async expect(point: Point): Promise<void> {
    this.#before = await this.#clicks(point);
  }

  /**
   * Whether a frame at the point got a click since {@link expect}; null: one shows another document since, or was
   * replaced, whatever the frames around it got; false: none did, or those that did do not answer now or did not
   * before. Never throws.
   */
  async isDelivered(point: Point): Promise<boolean | null> {
    const clicks = await this.#clicks(point);
    if (clicks.includes(GONE)) return null;
    return clicks.some((count, index) => {
      const before = this.#before[index] ?? SILENT;
      return before >= 0 && count > before;
    });
  }

  #clicks(point: Point): Promise<number[]> {
    const deadlineMs = underLoad(this.#session, ANSWER_MS);
    return Promise.all(
      framesAround(this.#frames, point).map(async ({ at, world }) => {
        // A frame that could not be measured does not answer.
        if (world === null) return SILENT;
        const counting = evaluateInWorld(at.session, world, countClicks, null, deadlineMs);
        return counting.catch((error) => (error instanceof DeadlineError ? SILENT : GONE));
      }),
    );
  }
}

/**
 * Runs in a frame, in an isolated world: how often a button or finger was pressed and released in it since it was first
 * asked. What was meant for a frame in it does not count.
 */
function countClicks(): number {
  type Clicks = { count: number; isPressed: boolean };
  // A symbol: elements of the page shadow names that are not taken, and `addEventListener`.
  const counted = Symbol.for('clicks');
  const store = globalThis as { [counted: symbol]: Clicks | undefined };
  if (store[counted]) return store[counted].count;
  const clicks = { count: 0, isPressed: false };
  store[counted] = clicks;
  const note = (event: Event) => {
    const { type, isTrusted } = event;
    const [target] = event.composedPath();
    const isFrame = target instanceof Element && Element.prototype.matches.call(target, 'iframe, frame, object, embed');
    const isHere = isTrusted && !isFrame;
    if (type === 'pointerup' && isHere && clicks.isPressed) clicks.count += 1;
    clicks.isPressed = type === 'pointerdown' && isHere;
  };
  for (const type of ['pointerdown', 'pointerup'])
    EventTarget.prototype.addEventListener.call(globalThis, type, note, { capture: true, passive: true });
  return 0;
}
