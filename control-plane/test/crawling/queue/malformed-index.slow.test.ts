import { after, afterEach, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { newId } from '@adsweep/shared/ids.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { nodeKeyOf } from '../../../src/crawling/fleet/credentials.ts';
import { startReaper } from '../../../src/crawling/leases/reaper.ts';
import { startRefill } from '../../../src/crawling/leases/refill.ts';
import { shardKeys } from '../../../src/crawling/queue/queue-shards.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { captureOf, type RunningFarm, runningFarm } from '../../support/running-farm.ts';

/** What a key holds that no script expects there. */
const CONTENTS: Record<string, (key: string) => Promise<unknown>> = {
  'a text': (key) => farm.redis.client.set(key, 'no number'),
  'a list': (key) => farm.redis.client.rpush(key, 'an element'),
};
const OF_A_JOB: typeof CONTENTS = {
  'a lease of nobody': (key) => farm.redis.client.hset(key, { state: 'leased' }),
};
const organization = 'organization';

/** Every key of the scheme, as it is for a scan. */
const { prefix, ...scheme } = shardKeys(0);
const KEYS: Record<keyof typeof scheme, (scan: ScanRecord) => string> = {
  job: ({ job_id }) => scheme.job(job_id),
  waiting: () => scheme.waiting(organization, 0),
  waitingOfAll: () => scheme.waitingOfAll(0),
  turns: () => scheme.turns(organization),
  leases: () => scheme.leases(organization),
  node: ({ lease }) => scheme.node(nodeKeyOf({ nodeId: lease?.node_id ?? '', instance: lease?.instance ?? '' })),
  roundRobin: () => scheme.roundRobin,
  caps: () => scheme.caps,
  delayed: () => scheme.delayed,
  leased: () => scheme.leased,
  fence: () => scheme.fence,
  clock: () => scheme.clock,
  spent: () => scheme.spent,
  lost: () => scheme.lost,
  means: () => scheme.means,
  adopting: () => scheme.adopting,
  adopted: () => scheme.adopted,
};

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

/** Steps of the loops that keep the index, as a control plane makes them all the time. */
async function stepLoops(): Promise<void> {
  const { dependencies } = farm.farm;
  const loops = [startRefill(dependencies), startReaper(dependencies, { graceMs: 0 })];
  for (const loop of loops) await loop.stop();
}

/** Leases the job of a scan, while the loops keep the index. */
const leaseOf = (scan: ScanRecord) =>
  until('a lease', async () => {
    const lease = await farm.acquireOne().catch(() => null);
    if (!lease) await stepLoops();
    return lease?.scan_id === scan._id && lease;
  });

describe('the index of crawl jobs, where a key holds what no script expects', () => {
  for (const [name, keyFor] of Object.entries(KEYS))
    for (const [what, write] of Object.entries({ ...CONTENTS, ...(name === 'job' && OF_A_JOB) }))
      it(`is rebuilt: ${what} at ${name}`, async () => {
        const submit = async () => {
          const id = newId();
          // A scan is accepted although it cannot be queued yet.
          await farm.submit({ _id: id, organization_id: organization }).catch(() => undefined);
          return farm.read(id);
        };
        const replace = async (scan: ScanRecord) => {
          await farm.redis.client.del(keyFor(scan));
          await write(keyFor(scan));
        };
        // The node has an instance, and the index all its keys.
        const first = await leaseOf(await submit());
        const { lease } = await farm.read(first.scan_id);
        await farm.node.complete(first, captureOf([]));

        const scan = await submit();
        await replace({ ...scan, lease });
        const second = await leaseOf(scan);
        await replace(await farm.read(scan._id));
        await until('a renewal', async () => (await farm.node.renew(second)).outcome === 'renewed');
        await stepLoops();
        await farm.node.complete(second, captureOf([]));

        const third = await leaseOf(await submit());
        await farm.node.complete(third, captureOf([]));
        await until('an empty queue', async () => {
          const load = await farm.farm.queue.load().catch(() => null);
          if (!load) await stepLoops();
          const { seconds: _, running: __, ...jobs } = load ?? { seconds: null, running: null };
          const none = { 0: 0, 1: 0, 2: 0 };
          return isDeepStrictEqual(jobs, { waiting: none, delayed: 0, leased: 0, capped: none });
        });
      });
});
