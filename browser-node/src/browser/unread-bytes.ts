/** Chromium writes the session last. */
const SESSION = /"sessionId":"(\w+)"\}$/;

/** How much the scripts of each session write that nobody reads. */
export class UnreadBytes {
  readonly #max: number;
  readonly #bySession = new Map<string, number>();

  /** `max`: bytes of one session beyond which they are a flood. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a message by its end. The session that floods with it, which is counted anew from here on; null = none does. */
  add(bytes: number, tail: string): string | null {
    const sessionId = SESSION.exec(tail)?.[1];
    if (sessionId === undefined) return null;
    const sum = (this.#bySession.get(sessionId) ?? 0) + bytes;
    const isFlood = sum > this.#max;
    this.#bySession.set(sessionId, isFlood ? 0 : sum);
    return isFlood ? sessionId : null;
  }

  /** A session has ended. */
  forget(sessionId: string): void {
    this.#bySession.delete(sessionId);
  }
}
