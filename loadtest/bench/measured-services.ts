import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentWith } from './config.ts';

const ROOT = resolve(import.meta.dirname, '../..');
export const API_KEY = 'the-key-of-the-benchmark';
export const NODE_TOKEN = 'the-token-of-the-benchmark';
export const METRICS_TOKEN = 'the-metrics-token-of-the-benchmark';

/** Writes what is in memory of the files there to the disk: the first sync of a service would wait for a gigabyte that it has not written. */
const toDisk = (folder: string) => spawnSync('sync', ['--file-system', folder], { stdio: 'inherit' });

/** The longest block of an event loop in ms: wall-clock time and CPU time of its thread. `growth`: bytes of memory more than before. */
export type Hold = { clock: number; cpu: number; growth: number };

/** A service whose event loop is watched, with the heap that farms and images give it. */
export class MeasuredService {
  readonly #child: ChildProcess;
  readonly ports: Record<string, number>;

  get pid(): number {
    return this.#child.pid!;
  }

  private constructor(child: ChildProcess, ports: Record<string, number>) {
    this.#child = child;
    this.ports = ports;
  }

  /** Starts `script` with these settings; resolves when it reports that it is ready. */
  static async start(script: string, settings: NodeJS.ProcessEnv, args: string[] = []): Promise<MeasuredService> {
    const child = fork(join(ROOT, script), args, {
      execArgv: ['--max-semi-space-size=4', '--expose-gc', '--import', join(import.meta.dirname, 'loop-probe.ts')],
      env: environmentWith({ ...settings, ADSWEEP_LOG_LEVEL: 'error' }),
    });
    const { ports } = await answerOf<{ ports: Record<string, number> }>(child, 'ready');
    return new MeasuredService(child, ports);
  }

  /** The longest block of the service's event loop during `work`. */
  async longestHold(work: () => Promise<unknown>): Promise<Hold> {
    await this.#ask('reset');
    await work();
    return this.#ask('longest');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  async #ask(type: 'reset' | 'longest'): Promise<Hold> {
    const answer = answerOf<Hold>(this.#child, 'longest');
    this.#child.send({ type });
    return answer;
  }
}

function answerOf<T>(child: ChildProcess, type: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the service ended with ${code}`));
    const onMessage = (message: { type?: string }) => {
      if (message.type !== type) return;
      child.off('exit', onExit).off('message', onMessage);
      resolve(message as T);
    };
    child.on('message', onMessage).once('exit', onExit);
  });
}

/**
 * Control plane (with these settings on top) and proxy-router with a Redis of their own, without nodes. `stored`: a folder with the data of an
 * earlier control plane, of which a copy is used. `exits`: the exits file of the router; null: its built-in exits.
 */
export async function startServices(
  settings: NodeJS.ProcessEnv = {},
  stored: string | null = null,
  exits: object | null = null,
) {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  if (stored) cpSync(stored, folder, { recursive: true });
  toDisk(folder);
  const socket = join(folder, 'redis.sock');
  const redis = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder], {
    stdio: 'ignore',
  });
  const exitsFile = join(folder, 'exits.json');
  if (exits) writeFileSync(exitsFile, JSON.stringify(exits));
  const router = await MeasuredService.start('proxy-router/src/main.ts', {
    ADSWEEP_PROXY_PORT: '0',
    ADSWEEP_DATA_DIR: folder,
    ADSWEEP_NODE_TOKEN: NODE_TOKEN,
    ADSWEEP_TICKET_SECRET: 'signs the tickets of the benchmark',
    ADSWEEP_METRICS_TOKEN: METRICS_TOKEN,
    ...(exits && { ADSWEEP_EXITS_FILE: exitsFile }),
  });
  const startControl = () =>
    MeasuredService.start('control-plane/src/main.ts', {
      ADSWEEP_HTTP_PORT: '0',
      ADSWEEP_NODE_API_PORT: '0',
      ADSWEEP_PROXY_URL: `http://127.0.0.1:${router.ports.api}`,
      ADSWEEP_DATA_DIR: folder,
      ADSWEEP_API_KEY: API_KEY,
      ADSWEEP_NODE_TOKEN: NODE_TOKEN,
      ADSWEEP_LEASE_SECRET: 'signs the leases of the benchmark',
      REDIS_URL: `unix://${socket}`,
      ...settings,
    });
  const services = {
    router,
    control: await startControl(),
    redis: { pid: redis.pid!, url: `unix://${socket}` },
    folder,
    /** Stops the control plane, calls `work`, which may change its stored data, and starts it again. */
    async whileStopped(work: () => Promise<void>): Promise<void> {
      await services.control.stop();
      await work();
      toDisk(folder);
      services.control = await startControl();
      await services.ready();
    },
    async ready(): Promise<void> {
      while ((await fetch(`http://127.0.0.1:${services.control.ports.http}/readyz`)).status !== 200) await sleep(100);
    },
    async stop(): Promise<void> {
      await services.control.stop();
      await router.stop();
      const ended = once(redis, 'exit');
      redis.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await services.ready();
  return services;
}
