import { CAUSE_LENGTH_MAX } from '@adsweep/shared/lease/messages.ts';
import { failureOfBrowser } from '../../failures.ts';
import type { CaptureFailure } from './capture-outcome.ts';

/** Why a capture cannot go on: the first reason counts, and it releases everything that waits. */
export class Ending {
  #failure: CaptureFailure | null = null;
  #announce: () => void = () => undefined;
  /** Settles when the capture cannot go on. */
  readonly came: Promise<void>;

  constructor() {
    this.came = new Promise((resolve) => {
      this.#announce = resolve;
    });
  }

  get failure(): CaptureFailure | null {
    return this.#failure;
  }

  end(code: CaptureFailure['code'], cause: unknown): void {
    this.#failure ??= { code, cause: causeText(cause) };
    this.#announce();
  }

  /**
   * The result of `work`, or null as soon as the capture cannot go on. The work itself is not stopped; its result is
   * ignored.
   */
  async race<T>(work: Promise<T>): Promise<T | null> {
    work.catch(() => undefined);
    return Promise.race([work, this.came.then(() => null)]);
  }

  /**
   * The result of `work`, or null if the browser failed meanwhile, which ends the capture: what was found before is
   * kept. Rejects for other errors, unless the capture has ended.
   */
  async contain<T>(work: Promise<T>): Promise<T | null> {
    try {
      return await work;
    } catch (error) {
      const code = failureOfBrowser(error);
      if (code) this.end(code, error);
      else if (!this.#failure) throw error;
      return null;
    }
  }
}

/** A private cause as text, for the log only. */
export const causeText = (cause: unknown): string =>
  (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)).slice(0, CAUSE_LENGTH_MAX);
