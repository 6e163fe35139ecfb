import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** A control plane as a process of its own, to be killed and started again; it keeps its ports. */
export class Replica {
  readonly #env: Record<string, string>;
  #child: ChildProcess | null = null;
  #ports: Record<string, string> = { ADSWEEP_HTTP_PORT: '0', ADSWEEP_NODE_API_PORT: '0' };
  #output = '';

  constructor(env: Record<string, string>) {
    this.#env = env;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${this.#ports.ADSWEEP_HTTP_PORT}`;
  }

  get nodeApiUrl(): string {
    return `http://127.0.0.1:${this.#ports.ADSWEEP_NODE_API_PORT}`;
  }

  /**
   * Resolves when it can work; rejects with its last words when it cannot. It is tried a few times: while it was down, a connection of
   * another process may have taken its port.
   */
  async start(tries = 10): Promise<void> {
    try {
      await this.#launch();
    } catch (error) {
      if (tries === 1) throw error;
      await pause(200);
      await this.start(tries - 1);
    }
  }

  async #launch(): Promise<void> {
    const env = { PATH: process.env.PATH, ...this.#env, ...this.#ports };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#child = child;
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk).slice(-4_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const died = once(child, 'exit').then(() => Promise.reject(new Error(`a control plane ended: ${this.#output}`)));
    died.catch(() => undefined);
    const [{ ports }] = (await Promise.race([once(child, 'message'), died])) as [Ready];
    this.#ports = { ADSWEEP_HTTP_PORT: String(ports.http), ADSWEEP_NODE_API_PORT: String(ports.node_api) };
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
