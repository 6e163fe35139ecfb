import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** Tries a launch a few times: while a process was down, a connection of another one may have taken its port. */
export async function launchAgain(launch: () => Promise<ChildProcess>, tries = 10): Promise<ChildProcess> {
  try {
    return await launch();
  } catch (error) {
    if (tries === 1) throw error;
    await pause(200);
    return launchAgain(launch, tries - 1);
  }
}

/** A process that is killed, paused and let go on as it comes. `launch` starts it, each time it is gone. */
export class SignalledProcess {
  readonly #launch: () => Promise<ChildProcess>;
  #child: ChildProcess | null = null;
  #isOver = false;

  constructor(launch: () => Promise<ChildProcess>) {
    this.#launch = launch;
  }

  async start(): Promise<void> {
    if (!this.#isOver) this.#child = await this.#launch();
    if (this.#isOver) await this.kill();
  }

  /** Kills it for good. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.kill();
  }

  /** SIGSTOP: it does nothing until `resume`. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** SIGKILL: nothing is tidied up. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}
