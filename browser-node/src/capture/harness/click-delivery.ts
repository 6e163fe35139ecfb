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
 * Whether Chromium delivers clicks to the frame that is shown where they are made. For a while after a page has scrolled, and for longer on a busy
 * machine, it drops some or gives them to another frame. The listeners that count them are in isolated worlds, which no page sees.
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
    this.#before = await this.#presses(point);
  }

  /**
   * Whether a frame at the point got a click since {@link expect}; null: one shows another document since, or was replaced, whatever the frames
   * around it got; false: none did, or those that did do not answer. Never throws.
   */
  async isDelivered(point: Point): Promise<boolean | null> {
    const presses = await this.#presses(point);
    if (presses.includes(GONE)) return null;
    return presses.some((count, index) => count > Math.max(0, this.#before[index] ?? 0));
  }

  #presses(point: Point): Promise<number[]> {
    const deadlineMs = underLoad(this.#session, ANSWER_MS);
    return Promise.all(
      framesAround(this.#frames, point).map(async ({ at, world }) => {
        // A frame that could not be measured does not answer.
        if (world === null) return SILENT;
        const counting = evaluateInWorld(at.session, world, countPresses, null, deadlineMs);
        return counting.catch((error) => (error instanceof DeadlineError ? SILENT : GONE));
      }),
    );
  }
}

/**
 * Runs in a frame, in an isolated world: how often a button or finger was pressed in it since it was first asked. What was meant for a frame in it
 * does not count.
 */
function countPresses(): number {
  // A symbol: elements of the page shadow names that are not taken, and `addEventListener`.
  const presses = Symbol.for('presses');
  const kept = globalThis as { [presses: symbol]: number | undefined };
  if (kept[presses] === undefined) {
    kept[presses] = 0;
    const count = ({ isTrusted, target }: Event) => {
      const isFrame =
        target instanceof Element && Element.prototype.matches.call(target, 'iframe, frame, object, embed');
      if (isTrusted && !isFrame) kept[presses] = (kept[presses] ?? 0) + 1;
    };
    EventTarget.prototype.addEventListener.call(globalThis, 'pointerdown', count, { capture: true, passive: true });
  }
  return kept[presses];
}
