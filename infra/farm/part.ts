import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';

export type PartOptions = {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Its output goes here, kept to about 20 MB. */
  logFile: string;
  /** When it can work: rejects when it cannot. Default: when it says `ready` over its IPC channel. */
  isReady?: (child: ChildProcess) => Promise<Ready['ports']>;
  readyMs?: number;
  /** Told in words of what happens to it. */
  say: (text: string) => void;
};

const LOG_BYTES_MAX = 20 * 1024 * 1024;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** Up this long, a part's next death counts as its first. */
const STEADY_MS = 60_000;

/** One process of the farm: started, watched, started again with a growing delay when it dies, stopped with all it started. */
export class Part {
  readonly name: string;
  readonly #options: PartOptions;
  #child: ChildProcess | null = null;
  #stopping = false;
  #backoffMs = BACKOFF_MIN_MS;

  constructor(options: PartOptions) {
    this.name = options.name;
    this.#options = options;
    if (existsSync(options.logFile) && statSync(options.logFile).size > LOG_BYTES_MAX)
      renameSync(options.logFile, `${options.logFile}.1`);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Starts it for the first time; answers its ports when it can work. A part that cannot is an error with its last words.
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
    const { command, args, env, logFile, readyMs = 30_000, isReady = saysReady } = this.#options;
    // It writes to the file itself, so that a supervisor that dies breaks no pipe under it.
    const log = openSync(logFile, 'a');
    // Its own process group: a terminal's Ctrl-C reaches the supervisor alone, which stops the parts in their order.
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
      return { child, ports: await withDeadline(Promise.race([isReady(child), died]), readyMs, 'its start') };
    } catch (cause) {
      killGroup(child);
      throw new Error(`${(cause as Error).message}${this.#lastWords()}`, { cause });
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

  #lastWords(): string {
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

/** What a dead part started (a browser, say) must not outlive it. */
function killGroup(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
