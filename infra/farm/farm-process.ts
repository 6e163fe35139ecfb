import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';
import type { RotateLog } from '@adsweep/shared/service/rotate-log.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';

export type FarmProcessOptions = {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Its output goes here; over `logBytesMax` bytes, what is there goes to `<logFile>.1` in place of what was there. */
  logFile: string;
  /** Default: 20 MB. */
  logBytesMax?: number;
  /** Whether it opens its log by name for each line, as Redis does: then a log that is moved away needs no help of its own. */
  opensLogByName?: boolean;
  /** When it can work: rejects when it cannot. Default: when it says `ready` over its IPC channel, within 30 s. */
  isReady?: (child: ChildProcess) => Promise<Ready['ports']>;
  /** Called with a message when the process dies or is restarted. */
  say: (text: string) => void;
};

const LOG_BYTES_MAX = 20 * 1024 * 1024;
const LOG_CHECK_MS = 500;
const READY_MS = 30_000;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** Up this long, a process's next death counts as its first. */
const STEADY_MS = 60_000;

/** One process of the farm: started, watched, started again with a growing delay when it dies, stopped with all it started. */
export class FarmProcess {
  readonly name: string;
  readonly #options: FarmProcessOptions;
  #child: ChildProcess | null = null;
  #stopping = false;
  #backoffMs = BACKOFF_MIN_MS;

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
   * Starts it for the first time; answers its ports when it can work. A process that cannot is an error with its last words.
   * `envOfPorts` makes it take the same ports when it is started again, so that the others still find it.
   */
  async start(envOfPorts: (ports: Ready['ports']) => NodeJS.ProcessEnv = () => ({})): Promise<Ready['ports']> {
    const { child, ports } = await this.#launch({});
    this.#watch(child, envOfPorts(ports));
    return ports;
  }

  /** SIGTERM, then SIGKILL for whatever of its process group is left after `graceMs` milliseconds. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child && isAlive(child)) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await Promise.race([gone, sleep(graceMs, undefined, { ref: false })]);
    }
    if (child) killGroup(child);
  }

  async #launch(moreEnv: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; ports: Ready['ports'] }> {
    const { command, args, env, logFile, isReady } = this.#options;
    // It writes to the file itself, so that a supervisor that dies breaks no pipe under it.
    const log = openSync(logFile, 'a');
    // Its own process group: a terminal's Ctrl-C reaches the supervisor alone, which stops the processes in their order.
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
    try {
      const ports = isReady
        ? isReady(child)
        : withDeadline(Promise.race([saysReady(child), died]), READY_MS, 'its start');
      return { child, ports: await Promise.race([ports, died]) };
    } catch (cause) {
      killGroup(child);
      throw new Error(`${(cause as Error).message}${this.#lastOutput()}`, { cause });
    }
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

  /** A process that writes to an open file moves its log itself: only so is no line lost. */
  #boundLog(): void {
    if (!this.#child || !isAlive(this.#child) || !this.#logIsLarge()) return;
    if (this.#options.opensLogByName) this.#moveLog();
    else if (this.#child.connected) {
      // A process that ends just now has its log moved at its next start.
      this.#child.send({ type: 'rotate-log', file: this.#options.logFile } satisfies RotateLog, () => undefined);
    }
  }

  #logIsLarge(): boolean {
    const { logFile, logBytesMax = LOG_BYTES_MAX } = this.#options;
    return (statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax;
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

/** Whether a process that was started has not ended yet. */
export const isAlive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

function saysReady(child: ChildProcess): Promise<Ready['ports']> {
  return new Promise((resolve) => {
    child.on('message', (message: Ready) => {
      if (message.type === 'ready') resolve(message.ports);
    });
  });
}

/** What a dead process started (a browser, say) must not outlive it. */
function killGroup(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
