import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { demoExits } from '../demo/exits.ts';
import type { FarmConfig } from './config.ts';
import { farmSecrets } from './data-dir.ts';
import { FarmProcess } from './farm-process.ts';
import { privateRedis } from './private-redis.ts';
import { processEnvironment, SERVICES, type ServiceName } from './services.ts';
import { untilReady } from './until-ready.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * These halve the services' memory after twenty scans: a small young generation is collected before its objects are promoted, and the C
 * library's allocator, which images use, returns free memory to the system.
 */
const SMALL_HEAP = ['--max-semi-space-size=4'];
const RETURNED_MEMORY = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

/** The farm on one machine: its processes, the order in which they start and stop, and the settings that each gets about the others. */
export class Farm {
  readonly #config: FarmConfig;
  readonly #say: (text: string) => void;
  readonly #dataDir: string;
  readonly #logDir: string;
  /** A folder with a short path for the Redis socket, if one was needed. */
  #shortDir: string | null = null;
  /** From then on nothing is started. */
  #isStopping = false;
  /** In start order. */
  readonly #processes: FarmProcess[] = [];

  constructor(config: FarmConfig, say: (text: string) => void) {
    this.#config = config;
    this.#say = say;
    this.#dataDir = resolve(config.ADSWEEP_DATA_DIR);
    this.#logDir = join(this.#dataDir, 'log');
    mkdirSync(this.#logDir, { recursive: true });
  }

  /**
   * Starts every process; resolves when scans can be created. `baseUrl`: for clients; `localUrl`: on this machine. Throws when a process
   * cannot start; the caller then stops the farm.
   */
  async start(): Promise<{ baseUrl: string; localUrl: string; apiKey: string }> {
    const config = this.#config;
    const secrets = farmSecrets(this.#dataDir);
    const apiKey = config.ADSWEEP_API_KEY || secrets.api_key;
    const [redisUrl, demoExitsFile] = await Promise.all([this.#redis(), this.#demoExitsFile()]);

    const router = await this.#service(
      'proxy-router',
      {
        ADSWEEP_DATA_DIR: this.#dataDir,
        ADSWEEP_PROXY_PORT: String(config.ADSWEEP_PROXY_PORT),
        ADSWEEP_EXITS_FILE: config.ADSWEEP_EXITS_FILE,
        ADSWEEP_EXITS_BASE_FILE: demoExitsFile,
        // Nodes stop first, so that there is no traffic left.
        ADSWEEP_DRAIN_SECONDS: '1',
        ADSWEEP_NODE_TOKEN: secrets.node_token,
        ADSWEEP_TICKET_SECRET: secrets.ticket_secret,
      },
      ({ api, gateway }) => ({ ADSWEEP_PROXY_PORT: String(api), ADSWEEP_GATEWAY_PORT: String(gateway) }),
    );
    const proxyUrl = `http://127.0.0.1:${router.api}`;

    const control = await this.#service(
      'control-plane',
      {
        ADSWEEP_DATA_DIR: this.#dataDir,
        ADSWEEP_HTTP_PORT: String(config.ADSWEEP_HTTP_PORT),
        ADSWEEP_NODE_API_PORT: String(config.ADSWEEP_NODE_API_PORT),
        ADSWEEP_API_KEY: apiKey,
        ADSWEEP_NODE_TOKEN: secrets.node_token,
        ADSWEEP_LEASE_SECRET: secrets.lease_secret,
        ADSWEEP_PROXY_URL: proxyUrl,
        REDIS_URL: redisUrl,
      },
      ({ http, node_api }) => ({ ADSWEEP_HTTP_PORT: String(http), ADSWEEP_NODE_API_PORT: String(node_api) }),
    );
    const localUrl = `http://127.0.0.1:${control.http}`;
    const baseUrl = config.ADSWEEP_PUBLIC_URL.replace(/\/+$/, '') || localUrl;
    await this.#nodes(`http://127.0.0.1:${control.node_api}`, proxyUrl, secrets.node_token);
    await untilReady(`${localUrl}/readyz`, this.#dataDir, this.#say);
    return { baseUrl, localUrl, apiKey };
  }

  /** Stops all processes within `ms` milliseconds: nodes first, so that they can release their leases; Redis last. */
  async stop(ms: number): Promise<void> {
    this.#isStopping = true;
    const named = (name: RegExp) => this.#processes.filter((one) => name.test(one.name));
    const stopAll = (processes: FarmProcess[], graceMs: number) =>
      Promise.all(processes.map((one) => one.stop(graceMs)));
    await stopAll(named(/^browser-node/), ms * 0.5);
    await stopAll(named(/^(control-plane|proxy-router|ad world)$/), ms * 0.3);
    await stopAll(named(/^redis$/), ms * 0.1);
    if (this.#shortDir) rmSync(this.#shortDir, { recursive: true, force: true });
  }

  async #redis(): Promise<string> {
    if (this.#config.REDIS_URL) return this.#config.REDIS_URL;
    const shortDir = () => {
      this.#shortDir = mkdtempSync(join(tmpdir(), 'adsweep-'));
      return this.#shortDir;
    };
    const { supervised, url, setDataAside } = privateRedis(this.#dataDir, shortDir, this.#logDir, this.#say);
    this.#processes.push(supervised);
    const start = () => this.#starting(supervised, () => ({}));
    await start().catch((error: Error) => {
      const aside = this.#isStopping ? null : setDataAside();
      if (aside === null) throw error;
      this.#say(
        `  ${error.message}\n  its data are in ${aside} now; it starts without them, and they are rebuilt from the records`,
      );
      return start();
    });
    return url;
  }

  /** Starts the ad world; returns the path of an exits file with its hosts and exits, '' if the demo is switched off. */
  async #demoExitsFile(): Promise<string> {
    if (this.#config.ADSWEEP_DEMO === 0) return '';
    const { http } = await this.#service('ad world', { ADSWEEP_DEMO_PORT: '0' }, ({ http }) => ({
      ADSWEEP_DEMO_PORT: String(http),
    }));
    const file = join(this.#dataDir, 'demo-exits.json');
    writeFileSync(file, JSON.stringify(demoExits(http ?? 0), null, 2));
    return file;
  }

  async #nodes(nodeApiUrl: string, proxyUrl: string, nodeToken: string): Promise<void> {
    const { ADSWEEP_NODES: count, ADSWEEP_SLOTS: slots } = this.#config;
    const start = (index: number) =>
      this.#service(`browser-node ${index + 1}`, {
        ADSWEEP_NODE_ID: `local-${index + 1}`,
        ADSWEEP_NODE_API_URL: nodeApiUrl,
        ADSWEEP_PROXY_URL: proxyUrl,
        ADSWEEP_NODE_TOKEN: nodeToken,
        ADSWEEP_METRICS_PORT: '0',
        // Somebody is waiting for the farm to stop.
        ADSWEEP_DRAIN_SECONDS: '0',
        ...(slots ? { ADSWEEP_SLOTS: String(slots) } : {}),
      });
    await Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  }

  /** Starts a service. `name`: with a number if there are several; `envOfPorts`: variables that keep its ports over a restart. */
  async #service(
    name: ServiceName | `${ServiceName} ${number}`,
    given: NodeJS.ProcessEnv,
    envOfPorts: (ports: Record<string, number>) => NodeJS.ProcessEnv = () => ({}),
  ): Promise<Record<string, number>> {
    const { script, settings } = SERVICES[name.replace(/ \d+$/, '') as ServiceName];
    const supervised = new FarmProcess({
      name,
      command: process.execPath,
      args: [...SMALL_HEAP, join(ROOT, script)],
      env: processEnvironment(settings, { ...RETURNED_MEMORY, ...given }),
      logFile: join(this.#logDir, `${name.replaceAll(' ', '-')}.log`),
      say: this.#say,
    });
    this.#processes.push(supervised);
    return this.#starting(supervised, envOfPorts);
  }

  async #starting(supervised: FarmProcess, envOfPorts: (ports: Record<string, number>) => NodeJS.ProcessEnv) {
    if (this.#isStopping) throw new Error(`${supervised.name}: not started, because the farm is stopping`);
    const began = performance.now();
    try {
      const ports = await supervised.start(envOfPorts);
      this.#say(
        `  ${supervised.name} is up (process ${supervised.pid}, ${((performance.now() - began) / 1000).toFixed(1)} s)`,
      );
      return ports;
    } catch (cause) {
      throw new Error(`${supervised.name}: ${(cause as Error).message}`, { cause });
    }
  }
}
