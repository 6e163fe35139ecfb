import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';
import { launchAgain, SignalledProcess } from './signalled-process.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
/** What makes a process's clock wrong when it is preloaded. */
export const SKEWED_CLOCK = new URL('skewed-clock.ts', import.meta.url).href;

/** A control plane as a process of its own, to be killed and started again; it keeps its ports. */
export class Replica extends SignalledProcess {
  readonly #env: Record<string, string>;
  #ports: Record<string, string> = { ADSWEEP_HTTP_PORT: '0', ADSWEEP_NODE_API_PORT: '0' };
  #output = '';

  /** With the settings `env`, and a clock that is off by `clockMs`. */
  constructor(env: Record<string, string>, clockMs = 0) {
    super(() => launchAgain(() => this.#launch()));
    this.#env = { ...env, NODE_OPTIONS: `--import ${SKEWED_CLOCK}`, ADSWEEP_TEST_CLOCK_MS: String(clockMs) };
  }

  get nodeApiPort(): number {
    return Number(this.#ports.ADSWEEP_NODE_API_PORT);
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${this.#ports.ADSWEEP_HTTP_PORT}`;
  }

  /** Resolves when it can work; rejects with its last words when it cannot. */
  async #launch(): Promise<ChildProcess> {
    const env = { PATH: process.env.PATH, ...this.#env, ...this.#ports };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk).slice(-4_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const died = once(child, 'exit').then(() => Promise.reject(new Error(`a control plane ended: ${this.#output}`)));
    died.catch(() => undefined);
    const [{ ports }] = (await Promise.race([once(child, 'message'), died])) as [Ready];
    this.#ports = { ADSWEEP_HTTP_PORT: String(ports.http), ADSWEEP_NODE_API_PORT: String(ports.node_api) };
    return child;
  }
}
