import { requireNoEviction } from '../crawling/queue/eviction-policy.ts';
import type { ReadyCheck } from '../http/probes.ts';
import type { Platform } from '../platform/platform.ts';

/** What a role cannot work without. */
export type Need = 'store' | 'redis' | 'catalogue';

/** The checks of `/readyz` for what the roles of this process need together. */
export function readyChecks(
  { store, redis }: Platform,
  needs: ReadonlySet<Need>,
  hasCatalogue: () => boolean,
  draining: AbortSignal,
): ReadyCheck[] {
  const unless = (missing: boolean, what: string) => {
    if (missing) throw new Error(what);
  };
  const checks: Record<Need, ReadyCheck[]> = {
    store: [['store', () => store.ping()]],
    redis: [
      ['redis', async () => void (await redis.ping())],
      ['redis maxmemory-policy noeviction', () => (redis.status === 'ready' ? requireNoEviction(redis) : undefined)],
    ],
    catalogue: [['catalogue', () => unless(!hasCatalogue(), 'the catalogue was not read yet')]],
  };
  const order: Need[] = ['store', 'redis', 'catalogue'];
  return [
    ['draining', () => unless(draining.aborted, 'the process is stopping')],
    ...order.filter((need) => needs.has(need)).flatMap((need) => checks[need]),
  ];
}
