import { requireNoEviction, requireVersion } from '../crawling/queue/redis-requirements.ts';
import type { ReadyCheck } from '../http/probes.ts';
import type { Platform } from '../platform/platform.ts';

/** What a role cannot work without. */
export type Need = 'store' | 'disk' | 'files' | 'redis' | 'catalogue';

/** The checks of `/readyz` for what the roles of this process need together. */
export function readyChecks(
  { store, disk, objects, redis }: Platform,
  needs: ReadonlySet<Need>,
  hasCatalogue: () => boolean,
  draining: AbortSignal,
): ReadyCheck[] {
  const unless = (missing: boolean, what: string) => {
    if (missing) throw new Error(what);
  };
  const whenConnected = (require: typeof requireVersion) => (redis.status === 'ready' ? require(redis) : undefined);
  const checks: Record<Need, ReadyCheck[]> = {
    store: [['store', () => store.ping()]],
    disk: [['disk', () => disk.requireFree()]],
    files: [['files', () => objects.ping()]],
    redis: [
      // A Redis that is full answers a ping and takes no job.
      ['redis', async () => void (await redis.set('adsweep:ready', '1', 'PX', 60_000))],
      ['redis version 7', () => whenConnected(requireVersion)],
      ['redis maxmemory-policy noeviction', () => whenConnected(requireNoEviction)],
    ],
    catalogue: [['catalogue', () => unless(!hasCatalogue(), 'the catalogue was not read yet')]],
  };
  const order: Need[] = ['store', 'disk', 'files', 'redis', 'catalogue'];
  return [
    ['draining', () => unless(draining.aborted, 'the process is stopping')],
    ...order.filter((need) => needs.has(need)).flatMap((need) => checks[need]),
  ];
}
