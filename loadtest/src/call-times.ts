import type { NodeCall, TimedCall } from './simulated-node.ts';

/** The durations of the calls of one kind in ms, sorted, and the errors of those that failed. */
export type CallTimes = { ms: number[]; errors: string[] };

/** Times the calls that end after `reset`. */
export class CallRecorder {
  #times: Partial<Record<NodeCall, CallTimes>> = {};

  reset(): void {
    this.#times = {};
  }

  /** What was recorded since the last reset. */
  read(): Partial<Record<NodeCall, CallTimes>> {
    for (const { ms } of Object.values(this.#times)) ms.sort((a, b) => a - b);
    return this.#times;
  }

  readonly timed: TimedCall = async (call, make) => {
    const began = performance.now();
    const note = (error?: unknown) => {
      this.#times[call] ??= { ms: [], errors: [] };
      this.#times[call].ms.push(performance.now() - began);
      if (error !== undefined) this.#times[call].errors.push(error instanceof Error ? error.message : String(error));
    };
    try {
      const answer = await make();
      note();
      return answer;
    } catch (error) {
      note(error);
      throw error;
    }
  };
}
