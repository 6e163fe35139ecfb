import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const COMPOSE = join(import.meta.dirname, '../../compose');
/** The files that can be laid over compose.yaml. */
const OVERLAYS = {
  roles: join(COMPOSE, 'roles.yaml'),
  'without-registry': join(import.meta.dirname, 'without-registry.yaml'),
  'roles-without-registry': join(import.meta.dirname, 'roles-without-registry.yaml'),
  scaler: join(import.meta.dirname, 'scaler.yaml'),
};
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const PULL_MS = 60_000;
const COMMAND_MS = 10 * 60_000;
const REMOVED_WITHIN_MS = 60_000;
/** A container can need this long to be ready on a machine that is busy with other work: as long as failed health checks do not count. */
export const STARTS_WITHIN_MS = 300_000;

/** The output of `docker <args>`, both streams. Rejects when it fails, with its output. */
export async function docker(...args: string[]): Promise<string> {
  const { stdout, stderr } = await run('docker', args, { maxBuffer: OUTPUT_BYTES_MAX, timeout: COMMAND_MS });
  return (stdout + stderr).trim();
}

/** Like {@link docker}, with the exit code instead of a rejection. */
export async function dockerOutcome(...args: string[]): Promise<{ code: number; output: string }> {
  try {
    return { code: 0, output: await docker(...args) };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string };
    return { code: typeof code === 'number' ? code : -1, output: stdout + stderr };
  }
}

/** Why containers cannot be tested here, null: they can. */
export async function missingEngine(): Promise<string | null> {
  const engine = await dockerOutcome('version', '--format', '{{.Server.Version}}');
  if (engine.code !== 0) return 'no Docker engine answers: start one, or set DOCKER_HOST';
  const compose = await dockerOutcome('compose', 'version', '--short');
  return compose.code === 0 ? null : 'docker compose is missing: install its plugin, version 2.24 or newer';
}

/** Whether an image is here or can be had from a registry. */
export async function hasImage(name: string): Promise<boolean> {
  if ((await dockerOutcome('image', 'inspect', name)).code === 0) return true;
  return run('docker', ['pull', '-q', name], { timeout: PULL_MS }).then(
    () => true,
    () => false,
  );
}

/** A deployment of our Compose file, with others laid over it, under a name and a port of its own. */
export class Deployment {
  readonly name: string;
  readonly #files: string[];
  readonly #port: number;

  constructor(name: string, port: number, overlays: (keyof typeof OVERLAYS)[]) {
    this.name = `adsweep-test-${name}-${process.pid}`;
    this.#port = port;
    this.#files = [join(COMPOSE, 'compose.yaml'), ...overlays.map((overlay) => OVERLAYS[overlay])];
    process.env.ADSWEEP_PORT = String(port);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  compose(...args: string[]): Promise<string> {
    return docker(...this.#arguments('demo'), ...args);
  }

  #arguments(profile: string): string[] {
    const files = this.#files.flatMap((file) => ['-f', file]);
    return ['compose', '-p', this.name, ...files, '--profile', profile];
  }

  /**
   * Removes containers, networks and volumes. The engine may hold an endpoint of a network for a moment longer than its container, and keeps the
   * network then: so it is told again until all are gone. Rejects with what each network still holds.
   */
  async remove(): Promise<void> {
    const own = `label=com.docker.compose.project=${this.name}`;
    const list = async (...what: string[]) =>
      (await docker(...what, '-q', '--filter', own)).split('\n').filter(Boolean);
    let outcome = await this.#down();
    for (const end = Date.now() + REMOVED_WITHIN_MS; Date.now() < end; outcome = await this.#down()) {
      const containers = await list('ps', '-a');
      const networks = await list('network', 'ls');
      if (outcome.code === 0 && containers.length === 0 && networks.length === 0) return;
      console.log(
        `${this.name}: ${containers.length} containers and ${networks.length} networks are left: ${outcome.output}`,
      );
      if (containers.length > 0) await dockerOutcome('rm', '-f', '-v', ...containers);
      for (const network of networks) await this.#releaseEndpoints(network);
      await sleep(1_000);
    }
    throw new Error(`${this.name} was not removed: ${outcome.output}`);
  }

  #down() {
    return dockerOutcome(...this.#arguments('*'), 'down', '-v', '--remove-orphans', '-t', '5');
  }

  /** Disconnects what a network lists as its endpoints although no container of the deployment is left. */
  async #releaseEndpoints(network: string): Promise<void> {
    const { code, output } = await dockerOutcome('network', 'inspect', '-f', '{{json .Containers}}', network);
    if (code !== 0) return;
    for (const { Name } of Object.values(JSON.parse(output) as Record<string, { Name: string }>)) {
      console.log(`${this.name}: network ${network} still has the endpoint ${Name}`);
      await dockerOutcome('network', 'disconnect', '-f', network, Name);
    }
  }

  /** The ids of a service's running containers. */
  async containers(service: string): Promise<string[]> {
    const filters = [`label=com.docker.compose.project=${this.name}`, `label=com.docker.compose.service=${service}`];
    const ids = await docker('ps', '-q', ...filters.flatMap((filter) => ['--filter', filter]));
    return ids.split('\n').filter(Boolean);
  }

  async container(service: string): Promise<string> {
    const [id] = await this.containers(service);
    if (!id) throw new Error(`no container of ${service} is running`);
    return id;
  }

  /** The addresses of all containers of a service, in all networks, with a port. */
  async addressesOf(service: string, port: number): Promise<string[]> {
    const all = JSON.parse(await docker('inspect', ...(await this.containers(service)))) as Addressed[];
    return all.flatMap(({ NetworkSettings: { Networks } }) =>
      Object.values(Networks).map(({ IPAddress }) => `${IPAddress}:${port}`),
    );
  }

  /** What a container gets that connects to a place: `connected`, or why not. With a request after the place, the first line of its answer. */
  async connects(container: string, place: string): Promise<string> {
    return (await dockerOutcome('exec', container, 'node', '-e', CONNECT, place)).output.trim();
  }
}

type Addressed = { NetworkSettings: { Networks: Record<string, { IPAddress: string }> } };

const CONNECT = `
const [place, ...request] = process.argv[1].split(' ');
const at = place.lastIndexOf(':');
const socket = require('node:net').connect({ host: place.slice(0, at), port: Number(place.slice(at + 1)) });
const end = (said) => { console.log(said); process.exit(0); };
socket.setTimeout(3000, () => end('no answer'));
socket.on('error', (error) => end(error.code));
socket.on('data', (data) => end(String(data).split('\\r\\n')[0]));
socket.on('connect', () => request.length > 0 ? socket.write(request.join(' ') + '\\r\\nHost: quiet.shop.example\\r\\n\\r\\n') : end('connected'));
`;

/** Waits until `check` returns a value; rejects with `what` after `ms` milliseconds. An error counts as no value. */
export async function until<T>(what: string, ms: number, check: () => Promise<T | null | false>): Promise<T> {
  const end = Date.now() + ms;
  let last: unknown = null;
  while (Date.now() < end) {
    const value = await check().catch((error: unknown) => {
      last = error;
      return null;
    });
    if (value) return value;
    await sleep(500);
  }
  throw new Error(`${what}: not within ${ms / 1000} s`, { cause: last });
}
