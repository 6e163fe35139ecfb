import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';
import type { RotateLog } from '@adsweep/shared/service/rotate-log.ts';

export type FarmProcessOptions = {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** File for its output. Beyond `logBytesMax` bytes, the contents replace `<logFile>.1`. */
  logFile: string;
  /** Default: 20 MB. */
  logBytesMax?: number;
  /** Whether it opens its log by name for each line, as Redis does: such a log can be renamed without its help. */
  opensLogByName?: boolean;
  /** Resolves when the process is ready, rejects when it cannot start. Default: its `ready` message over IPC, however long that takes. */
  isReady?: (child: ChildProcess) => Promise<Ready['ports']>;
  /** Default: 30 s. How often a start that takes long is reported. */
  slowStartMs?: number;
  /** Called with a line of text when the process dies, is restarted, or takes long to start. */
  say: (text: string) => void;
};

const LOG_BYTES_MAX = 20 * 1024 * 1024;
const LOG_CHECK_MS = 500;
const SLOW_START_MS = 30_000;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** Uptime after which the restart backoff resets. */
const STEADY_MS = 60_000;

/** Supervises one process of the farm: restarts it with exponential backoff when it dies, and stops it with its whole process group. */
export class FarmProcess {
  readonly name: string;
  readonly #options: FarmProcessOptions;
  #child: ChildProcess | null = null;
  #stopping = false;
  #backoffMs = BACKOFF_MIN_MS;
  /** Why the log could not be moved away; '' = it could. */
  #logProblem = '';

  constructor(options: FarmProcessOptions) {
    this.name = options.name;
    this.#options = options;
    if (this.#logIsLarge()) this.#moveLog();
    setInterval(() => this.#boundLog(), LOG_CHECK_MS).unref();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Starts the process; returns its ports when it is ready. Throws with the end of its log if it cannot start. `envOfPorts`: variables that
   * make a restarted process use the same ports, so that other processes still find it.
   */
  async start(envOfPorts: (ports: Ready['ports']) => NodeJS.ProcessEnv = () => ({})): Promise<Ready['ports']> {
    const { child, ports } = await this.#launch({});
    this.#watch(child, envOfPorts(ports));
    return ports;
  }

  /** Sends SIGTERM, and after `graceMs` milliseconds SIGKILL to what is left of its process group. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child && isAlive(child)) {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await Promise.race([exited, sleep(graceMs, undefined, { ref: false })]);
    }
    if (child) killGroup(child);
  }

  async #launch(moreEnv: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; ports: Ready['ports'] }> {
    const { command, args, env, logFile, isReady = saysReady } = this.#options;
    // The process writes to the file directly: if the supervisor dies, no pipe breaks.
    const log = openSync(logFile, 'a');
    // A process group of its own: a terminal's Ctrl-C reaches only the supervisor, which stops the processes in order.
    const child = spawn(command, args, {
      env: { ...env, ...moreEnv },
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.#child = child;
    const died = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => reject(new Error(`it ended with ${signal ?? `code ${code}`}`)));
    });
    died.catch(() => {});
    const reporting = this.#reportSlowStart();
    try {
      return { child, ports: await Promise.race([isReady(child), died]) };
    } catch (cause) {
      killGroup(child);
      throw new Error(`${(cause as Error).message}${this.#lastOutput()}`, { cause });
    } finally {
      clearInterval(reporting);
    }
  }

  /**
   * A start has no time limit: after an update the control plane changes the records and builds indexes, and an index that is interrupted
   * begins anew with the next start.
   */
  #reportSlowStart(): NodeJS.Timeout {
    const { logFile, slowStartMs = SLOW_START_MS, say } = this.#options;
    const began = performance.now();
    const report = () => {
      const seconds = Math.round((performance.now() - began) / 1000);
      say(`  ${this.name} has been starting for ${seconds} s; what it does is in ${logFile}`);
    };
    return setInterval(report, slowStartMs).unref();
  }

  #watch(child: ChildProcess, portsEnv: NodeJS.ProcessEnv): void {
    const since = Date.now();
    const ended = () => {
      killGroup(child);
      if (this.#stopping) return;
      if (Date.now() - since > STEADY_MS) this.#backoffMs = BACKOFF_MIN_MS;
      void this.#restart(portsEnv, child.signalCode ?? `code ${child.exitCode}`);
    };
    if (isAlive(child)) child.once('exit', ended);
    else ended();
  }

  async #restart(portsEnv: NodeJS.ProcessEnv, how: string): Promise<void> {
    const waitMs = this.#backoffMs;
    this.#backoffMs = Math.min(waitMs * 2, BACKOFF_MAX_MS);
    this.#options.say(`${this.name} died (${how}); starting it again in ${waitMs / 1000} s`);
    await sleep(waitMs, undefined, { ref: false });
    if (this.#stopping) return;
    try {
      const { child } = await this.#launch(portsEnv);
      this.#options.say(`${this.name} is back (process ${child.pid})`);
      this.#watch(child, portsEnv);
    } catch (error) {
      if (!this.#stopping) await this.#restart(portsEnv, (error as Error).message);
    }
  }

  /** A process that writes to an open file rotates its log itself, so that no line is lost. */
  #boundLog(): void {
    if (!this.#child || !isAlive(this.#child) || !this.#logIsLarge()) return;
    if (this.#options.opensLogByName) this.#moveLogOrSay();
    else if (this.#child.connected) {
      // If the process ends meanwhile, its log is rotated after its restart.
      this.#child.send({ type: 'rotate-log', file: this.#options.logFile } satisfies RotateLog, () => undefined);
    }
  }

  #logIsLarge(): boolean {
    const { logFile, logBytesMax = LOG_BYTES_MAX } = this.#options;
    return (statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax;
  }

  /** An error would end the farm: this is called by a timer. */
  #moveLogOrSay(): void {
    try {
      this.#moveLog();
      this.#logProblem = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#logProblem)
        this.#options.say(`${this.name}: its log grows, because it cannot be moved away: ${message}`);
      this.#logProblem = message;
    }
  }

  #moveLog(): void {
    renameSync(this.#options.logFile, `${this.#options.logFile}.1`);
  }

  #lastOutput(): string {
    const { logFile } = this.#options;
    if (!existsSync(logFile)) return '';
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-5);
    return `; the end of ${logFile}:\n${lines.map((line) => `    ${line.slice(0, 400)}`).join('\n')}`;
  }
}

/** Whether a started process is still running. */
export const isAlive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

function saysReady(child: ChildProcess): Promise<Ready['ports']> {
  return new Promise((resolve) => {
    child.on('message', (message: Ready) => {
      if (message.type === 'ready') resolve(message.ports);
    });
  });
}

/** Kills what a dead process has started, such as a browser. */
function killGroup(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
