import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { TARGET_KINDS } from '@adsweep/shared/scan/target.ts';
import fc from 'fast-check';
import { COSTS, RECORD_BYTES } from '../../../src/crawling/plan/measured.ts';
import { planCapacity } from '../../../src/crawling/plan/plan-capacity.ts';
import { capacityDocument } from '../../support/capacity-table.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';

const result = (name: string) =>
  readFileSync(new URL(`../../../../loadtest/results/${name}.md`, import.meta.url), 'utf8');
const request = { scansPerDay: 1e6, kind: 'url', peakFactor: 3, keepDays: 30 } as const;

describe('the plan of a farm', () => {
  it('rests on the costs that a benchmark has measured', () => {
    const text = result('2026-11-29-sizing');
    for (const kind of TARGET_KINDS) {
      const name = kind === 'url' ? 'page' : kind;
      const [, cells = ''] = new RegExp(`^\\| ${name} \\| (.*) \\|$`, 'm').exec(text) ?? [];
      const { seconds, nodeCpu, controlCpu, routerCpu, redisCpu, fileBytes, exitBytes } = COSTS[kind];
      const own = [seconds, nodeCpu, controlCpu, routerCpu, redisCpu, fileBytes / 1e3, exitBytes / 1e3];
      assert.deepEqual(cells.split(' | ').map(Number), own, kind);
    }
    assert.match(text, new RegExp(`have ${RECORD_BYTES / 1e3} kB a scan`));
  });

  it('agrees within 20 % with a measured run of all kinds mixed, about what one machine does in a day', () => {
    const [, measured] =
      /^\| scans a day of one machine .*\| ([\d.]+) \| [\d.]+ \|$/m.exec(result('2026-11-29-sizing')) ?? [];
    const planned = TARGET_KINDS.map((kind) => {
      const { limits } = planCapacity({ ...request, kind, peakFactor: 1 });
      return limits.find(({ part }) => part.includes('one machine'))!.scansPerDay;
    });
    // A third of each kind: the harmonic mean.
    const mixed = planned.length / planned.reduce((sum, one) => sum + 1 / one, 0);
    assert.ok(Math.abs(Number(measured) / mixed - 1) <= 0.2, `${mixed} scans a day, measured ${measured}`);
  });

  it('needs no less for more scans, and grows in proportion', () => {
    const some = fc.integer({ min: 1, max: 100_000_000 });
    fc.assert(
      fc.property(some, some, fc.constantFrom(...TARGET_KINDS), (a, b, kind) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((scansPerDay) =>
          planCapacity({ ...request, scansPerDay, kind }),
        );
        const counts = (plan: typeof less) => [
          ...[plan!.slots, plan!.nodes.count, plan!.controlPlanes.count, plan!.proxyRouters.count],
          ...[plan!.redis.shards, plan!.mongodb.shards, plan!.files.keptBytes, plan!.exits.bytesPerDay],
        ];
        const larger = counts(more);
        assert.ok(counts(less).every((count, at) => count >= 0 && count <= larger[at]!));
      }),
    );
    assert.equal(planCapacity({ ...request, seconds: 60 }).slots, Math.ceil(((1e6 / 86_400) * 3 * 60) / 0.7));
  });

  it('says what breaks first, whatever is scanned: one machine', () => {
    for (const kind of TARGET_KINDS) {
      const { limits } = planCapacity({ ...request, kind });
      assert.match(limits[0]!.part, /one machine/);
      assert.deepEqual(
        limits.map(({ scansPerDay }) => scansPerDay),
        limits.map(({ scansPerDay }) => scansPerDay).toSorted((a, b) => a - b),
      );
    }
  });

  it('is in CAPACITY.md as it is computed', () => {
    const { kept, made } = capacityDocument();
    assert.equal(kept, made, 'node control-plane/test/support/capacity-table.ts writes its tables');
  });
});

describe('the operation', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  it('§4.6.5 plans for a number of scans a day, with measurements of one’s own', async () => {
    const key = await api.keyThatMay('fleet.read');
    const plan = async (query: string) => api.get(`/api/v1/fleet/plan${query}`, { key });
    assert.equal((await plan('')).status, 422);
    const { status, body } = await plan('?scans_per_day=1000000&seconds=7&exit_megabytes=2');
    assert.equal(status, 200);
    assert.deepEqual(body.scans_per_second, { mean: 11.6, peak: 34.7 });
    assert.deepEqual([body.slots, body.nodes.count, body.exits.gb_per_day], [348, 35, 2000]);
    assert.deepEqual(body.limits.map(({ exceeded }: { exceeded: boolean }) => exceeded).slice(0, 2), [true, true]);
    assert.equal((await plan('?scans_per_day=10')).body.limits[0].exceeded, false);
  });
});
