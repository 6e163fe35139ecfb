/**
 * Why an attempt was ended before it was done. `deadline`: it took too long; `drain`: this node stops; `declined`: the
 * node is reserved for another job, could not say that it is reserved for this one, has no browser, or the proxy-router
 * issues no tickets.
 */
export type StopReason = 'lost' | 'cancelled' | 'deadline' | 'drain' | 'declined';

/** Ends a lease, or one of its attempts, early. */
export class AttemptStop {
  readonly #any = new AbortController();
  readonly #gone = new AbortController();
  #reason: StopReason | null = null;
  #afterAttempt: StopReason | null = null;

  /** Aborted when the capture must end, for whatever reason. */
  get signal(): AbortSignal {
    return this.#any.signal;
  }

  /** Aborted when the attempt must not be reported any more: it is lost or cancelled. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** The first reason; `lost` and `cancelled` replace any other. */
  get reason(): StopReason | null {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    const isGone = reason === 'lost' || reason === 'cancelled';
    if (this.#gone.signal.aborted || (this.#reason && !isGone)) return;
    this.#reason = reason;
    this.#any.abort(new AttemptStopped(reason));
    if (isGone) this.#gone.abort(new AttemptStopped(reason));
  }

  /** Ends a lease when its current attempt has ended. */
  stopAfterAttempt(reason: StopReason): void {
    this.#afterAttempt ??= reason;
  }

  /** Called between the attempts of a lease: throws {@link AttemptStopped} when no other may begin. */
  throwIfEnded(): void {
    if (this.#afterAttempt) this.stop(this.#afterAttempt);
    this.signal.throwIfAborted();
  }

  /** A stop for one attempt of this lease: it can be stopped alone, and stops with the lease. */
  forAttempt(): AttemptStop {
    const attempt = new AttemptStop();
    for (const signal of [this.signal, this.gone]) {
      const pass = () => void (this.#reason && attempt.stop(this.#reason));
      if (signal.aborted) pass();
      else signal.addEventListener('abort', pass, { once: true });
    }
    return attempt;
  }

  /**
   * The result of `work`, or {@link AttemptStopped} as soon as the attempt ends early; the work is not stopped, and
   * `unwanted` gets its result.
   */
  race<T>(work: Promise<T>, unwanted: (late: T) => void = () => undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const stopped = () => reject(this.signal.reason);
      if (this.signal.aborted) stopped();
      this.signal.addEventListener('abort', stopped, { once: true });
      work
        .then((value) => (this.signal.aborted ? unwanted(value) : resolve(value)), reject)
        .finally(() => this.signal.removeEventListener('abort', stopped));
    });
  }
}

/** The attempt was ended early. */
export class AttemptStopped extends Error {
  constructor(reason: StopReason) {
    super(`the attempt was stopped: ${reason}`);
  }
}
