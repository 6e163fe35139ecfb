import { setTimeout as pause } from 'node:timers/promises';
import { ACQUIRE_MAX, ACQUIRE_WAIT_MAX_MS, type Acquired, type Lease } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Backoff, backoffMs } from '@adsweep/shared/service/retry.ts';
import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { AttemptStop } from './attempt-stop.ts';
import { ClaimGate } from './claim-gate.ts';
import { runLease } from './run-lease.ts';
import type { LeaseParts } from './run-member.ts';

const BACKOFF: Backoff = { minMs: 250, maxMs: 10_000 };

type Running = { stop: AttemptStop; done: Promise<void> };
/** A job that must be alone on this node; `begin` is called once it is, and null from then on. */
type Exclusive = { leaseId: string; begin: (() => void) | null };

/**
 * Keeps a node's slots filled with leases. A job that must be alone waits for the others to end, and meanwhile no more
 * are taken.
 */
export class LeaseLoop {
  readonly #parts: LeaseParts;
  readonly #nodeId: string;
  #slots: number;
  readonly #logger: Logger;
  readonly #running = new Map<string, Running>();
  /** Held or closed while the node takes no work. */
  readonly gate = new ClaimGate();
  /** Called when the answer to a request for work says that the operator drains the node. */
  drainRequested: () => void = () => undefined;
  #drainEnded = new AbortController();
  #exclusive: Exclusive | null = null;
  #slotFreed: () => void = () => undefined;
  #looping: Promise<void> | null = null;

  constructor(parts: LeaseParts, nodeId: string, slots: number, logger: Logger) {
    this.#parts = parts;
    this.#nodeId = nodeId;
    this.#slots = slots;
    this.#logger = logger;
    parts.metrics.slots.set(slots);
  }

  /** How many captures may run at once. */
  get slots(): number {
    return this.#slots;
  }

  /** Changes it. What runs beyond that goes on. */
  resize(slots: number): void {
    if (slots === this.#slots) return;
    this.#slots = slots;
    this.#parts.metrics.slots.set(slots);
    this.#slotFreed();
  }

  get busy(): number {
    return this.#running.size;
  }

  get draining(): boolean {
    return this.gate.isClosed || this.gate.isHeldBy('drain');
  }

  start(): void {
    this.#looping ??= this.#loop();
  }

  /**
   * Takes no more work and releases jobs that have not begun; running attempts may go on for `graceMs` milliseconds,
   * and are released then. Resolves when nothing runs, or when `undrain` ends the drain.
   */
  async drain(graceMs: number): Promise<void> {
    this.gate.hold('drain');
    this.#releaseUnstarted();
    const { signal } = this.#drainEnded;
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    if (graceMs > 0)
      await withDeadline(Promise.race([this.#allEnded(), ended]), graceMs, 'a drain').catch(ignoreDeadline);
    if (signal.aborted) return;
    this.releaseAll();
    await this.#allEnded();
  }

  /** Takes work again after `drain`, unless the node stops. */
  undrain(): void {
    if (this.gate.isClosed || !this.draining) return;
    this.#drainEnded.abort();
    this.#drainEnded = new AbortController();
    this.gate.release('drain');
  }

  /** Drains for good. */
  async stop(graceMs: number): Promise<void> {
    this.gate.close();
    this.#slotFreed();
    await this.drain(graceMs);
    await this.#looping;
    // Leases of an acquire response that arrived meanwhile have been released too.
    await this.#allEnded();
  }

  /** Releases all running leases at once. */
  releaseAll(): void {
    for (const { stop } of this.#running.values()) stop.stop('drain');
  }

  #releaseUnstarted(): void {
    if (this.#exclusive?.begin) this.#running.get(this.#exclusive.leaseId)?.stop.stop('drain');
    for (const { stop } of this.#running.values()) stop.stopAfterAttempt('drain');
  }

  async #allEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #loop(): Promise<void> {
    let failures = 0;
    while (!this.gate.isClosed) {
      const free = this.#exclusive ? 0 : Math.max(0, this.#slots - this.#running.size);
      await (free === 0 ? this.#untilSlotFreed() : this.gate.untilOpen());
      if (free === 0 || this.gate.isClosed) continue;
      const { signal } = this.gate;
      try {
        const { leases, drain } = await this.#acquire(free, signal);
        if (drain) this.drainRequested();
        for (const lease of leases) this.#start(lease);
        this.#beginExclusive();
        failures = 0;
      } catch (cause) {
        if (signal.aborted) continue;
        const pauseMs = backoffMs(BACKOFF, failures++);
        this.#logger.warn({ cause, pause_ms: pauseMs }, 'work could not be requested');
        await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #acquire(free: number, signal: AbortSignal): Promise<Acquired> {
    const request = { node_id: this.#nodeId, max: Math.min(free, ACQUIRE_MAX), wait_ms: ACQUIRE_WAIT_MAX_MS };
    return this.#parts.api.acquire(request, signal);
  }

  #start(lease: Lease): void {
    const logger = this.#logger.child({ job_id: lease.job.job_id, lease_id: lease.lease_id });
    const stop = new AttemptStop();
    // A lease that arrived while the drain began is released at once.
    if (this.draining) stop.stop('drain');
    const { isolation } = lease.job;
    const isExclusive = isolation === 'node' || (isolation === 'browser' && this.#parts.pool.sharesBrowser === true);
    // Of two jobs that must be alone the second one is released: the first one must not affect it.
    if (isExclusive && this.#exclusive) stop.stop('declined');
    const alone = isExclusive ? this.#reserve(lease) : null;
    const done = runLease(this.#parts, lease, stop, logger, alone).then((end) => {
      this.#parts.metrics.leases.inc({ end });
      logger.info({ end }, 'a lease ended');
      this.#running.delete(lease.lease_id);
      if (this.#exclusive?.leaseId === lease.lease_id) this.#exclusive = null;
      this.#beginExclusive();
      this.#parts.metrics.busySlots.set(this.#running.size);
      this.#slotFreed();
    });
    this.#running.set(lease.lease_id, { stop, done });
    this.#parts.metrics.busySlots.set(this.#running.size);
  }

  /** Reserves the node for a lease unless it is reserved already; resolves when nothing else runs on it. */
  #reserve({ lease_id }: Lease): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#exclusive ??= { leaseId: lease_id, begin: resolve };
    return promise;
  }

  #beginExclusive(): void {
    if (!this.#exclusive?.begin || this.#running.size > 1) return;
    this.#exclusive.begin();
    this.#exclusive.begin = null;
  }

  #untilSlotFreed(): Promise<void> {
    return new Promise((resolve) => {
      this.#slotFreed = resolve;
    });
  }
}

function ignoreDeadline(error: unknown): void {
  if (!(error instanceof DeadlineError)) throw error;
}
