import { setTimeout as sleep } from 'node:timers/promises';
import { type Deployment, docker } from './engine.ts';

/** What a run measures of its containers and prints, for the tables of ../README.md and of ../../OPERATIONS.md. */

/** Memory in MiB as `docker stats` shows it; processes and threads. */
type Usage = { mib: number; pids: number };
type Usages = Map<string, Usage>;

const EVERY_MS = 3_000;
const MIB: Record<string, number> = { B: 1 / 1024 ** 2, KiB: 1 / 1024, MiB: 1, GiB: 1024 };
/** The line with which a container says that it can be used: ours, and Redis'. */
const READY = /"msg":"ready"|Ready to accept connections/;

/** Prints the uncompressed sizes of images, in MB (10^6 bytes), and what each adds to the first. */
export async function printSizes(images: string[]): Promise<void> {
  const sizes = await Promise.all(images.map((name) => docker('image', 'inspect', '-f', '{{.Size}}', name)));
  const [base = 0, ...rest] = sizes.map((size) => Math.round(Number(size) / 1e6));
  console.log(`sizes: ${images[0]} ${base} MB`);
  for (const [at, size] of rest.entries()) console.log(`sizes: ${images[at + 1]} ${size} MB, ${size - base} MB beyond`);
}

/** Prints how long each container of the services needed from its start to its line that it is ready, in seconds. */
export async function printStarts(farm: Deployment, services: string[]): Promise<void> {
  for (const service of services)
    for (const container of await farm.containers(service)) {
      const [started, log] = await Promise.all([
        docker('inspect', '-f', '{{.State.StartedAt}}', container),
        docker('logs', '--timestamps', container),
      ]);
      const ready = log
        .split('\n')
        .find((line) => READY.test(line))
        ?.split(' ')[0];
      const seconds = ready ? ((Date.parse(ready) - Date.parse(started)) / 1000).toFixed(1) : 'never';
      console.log(`starts: ${service} ready after ${seconds} s`);
    }
}

/** Memory and processes of each running container, by its name within the deployment. */
export async function usages(farm: Deployment): Promise<Usages> {
  const ids = await docker('ps', '-q', '--filter', `label=com.docker.compose.project=${farm.name}`);
  const shown = await docker(
    'stats',
    '--no-stream',
    '--format',
    '{{.Name}} {{.MemUsage}} {{.PIDs}}',
    ...ids.split('\n'),
  );
  return new Map(
    shown.split('\n').flatMap((line): [string, Usage][] => {
      const [, name, amount, unit, pids] = /^(\S+) ([\d.]+)(\w+) .* (\d+)$/.exec(line) ?? [];
      return name
        ? [[name.replace(`${farm.name}-`, ''), { mib: Number(amount) * MIB[unit!]!, pids: Number(pids) }]]
        : [];
    }),
  );
}

/** Does the work, and meanwhile looks every few seconds what each container uses. Returns the most of it beside what the work returns. */
export async function peaksDuring<T>(farm: Deployment, work: () => Promise<T>): Promise<[T, Usages]> {
  const peaks: Usages = new Map();
  const done = new AbortController();
  const watch = async () => {
    while (!done.signal.aborted) {
      for (const [name, { mib, pids }] of await usages(farm)) {
        const most = peaks.get(name) ?? { mib: 0, pids: 0 };
        peaks.set(name, { mib: Math.max(most.mib, mib), pids: Math.max(most.pids, pids) });
      }
      await sleep(EVERY_MS, null, done).catch(() => {});
    }
  };
  const watching = watch();
  try {
    return [await work(), peaks];
  } finally {
    done.abort();
    await watching;
  }
}

/** Prints what containers used. */
export function printUsages(when: string, found: Usages): void {
  for (const [name, { mib, pids }] of [...found].toSorted())
    console.log(`${when}: ${name} ${Math.round(mib)} MiB, ${pids} processes and threads`);
}
