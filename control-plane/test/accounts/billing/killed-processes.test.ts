import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { derivedId } from '@adsweep/shared/ids.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { bookCharge } from '../../../src/accounts/billing/ledger-entry.ts';
import { ledgerStore } from '../../../src/accounts/billing/ledger-store.ts';
import { openAllowances } from '../../../src/accounts/billing/open-allowances.ts';
import { releaseAbandoned } from '../../../src/accounts/billing/release-abandoned.ts';
import { NO_QUOTAS } from '../../../src/accounts/organizations/organization.ts';
import { relay } from '../../../src/delivery/outbox/relay.ts';
import { workMetrics } from '../../../src/metrics.ts';
import type { Origin, OutboxEntry, OutboxHandlers } from '../../../src/platform/outbox/outbox-entry.ts';
import { openStore, type Store } from '../../../src/platform/store.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import { scanStore } from '../../../src/scan/scan-store.ts';
import { pendingScan } from '../../../src/scanning/scans/request/new-scan.ts';
import { submitTogether } from '../../../src/scanning/scans/request/submit.ts';
import { Killed, mortalStore } from '../../support/mortal-store.ts';
import { sampleScan } from '../../support/sample-scan.ts';

const [ORGANIZATION, PRICE_MICROS, START_MICROS] = ['organization', 10, 1_000];
const INDEXES = [0, 1, 2];
const PLAN = { runId: 'run', id: 'plan', checks: INDEXES.length, priceMicros: PRICE_MICROS };
const logger = createLogger('test', 'silent');
const metrics = workMetrics(new Registry());
const startedAt = new Date();
const later = () => new Date(Date.now() + 3_600_000);

/** What a process does about the checks of one order, which it may do again after another one has died. */
function processOn(store: Store) {
  const [scans, ledger] = [scanStore(store), ledgerStore(store)];
  const quotasOf = async () => ({ ...NO_QUOTAS, checks_per_month: 100 });
  const { countReserved } = scans;
  const allowance = openAllowances({ store, ledger, quotasOf, countReserved, startBalanceMicros: START_MICROS });
  const nothing = () => undefined;
  const parts = { scans, reserve: allowance.reserve, submitted: nothing, outboxFilled: nothing, log: logger };
  const submit = submitTogether({ ...parts, enqueue: async () => undefined });
  const book = (entry: OutboxEntry<'charge' | 'refund'>, origin: Origin) => bookCharge(ledger, entry, origin);
  const handlers: Partial<OutboxHandlers> = {
    charge: book,
    refund: async (entry, origin) => {
      await book(entry, origin);
      await allowance.follow(origin.organizationId);
    },
  };

  return {
    scans,
    ledger,
    allowance,

    /** Creates the scans of the order, those of a run from the run's reservation, and cancels the first one. */
    async order(isRun: boolean): Promise<void> {
      if (isRun) await allowance.reserveRun(ORGANIZATION, { ...PLAN, now: startedAt });
      const made = INDEXES.map((index) => {
        const about = { organization_id: ORGANIZATION, price_micros: PRICE_MICROS, run_id: null, campaign_id: null };
        const sample = sampleScan({ _id: derivedId('order', index), job_id: derivedId('order', index), ...about });
        return pendingScan(sample, startedAt);
      });
      const from = isRun && { from: { id: PLAN.id, at: startedAt } };
      const request = { id: 'order', names: ['order'], indexes: INDEXES, isRepeatable: true, ...from };
      const [first] = await submit({ scans: made, request });
      await changeScan(scans, (await scans.find(ORGANIZATION, first!._id))!, { type: 'cancel' }, new Date());
      await allowance.writeFinished();
      if (isRun) await allowance.releaseRun(ORGANIZATION, PLAN.id);
    },

    /** Carries out all charges and refunds. */
    async relay(now: Date): Promise<void> {
      const dependencies = { sources: [scans.outbox], handlers: handlers as OutboxHandlers, metrics, logger };
      while ((await relay(dependencies, now)).entries > 0);
    },

    release: () =>
      releaseAbandoned(
        { allowances: allowance.allowances, countReserved, isCreatingRun: async () => false, logger },
        later(),
      ),
  };
}

/** The scans that are neither cancelled nor missing are counted and paid, each once, and nothing else is. */
async function assertExact(store: Store, about: string): Promise<void> {
  const { ledger, allowance } = processOn(store);
  const stored = await store.collection<{ _id: string; status: string }>('scans').find({}).toArray();
  const paid = stored.filter(({ status }) => status !== 'cancelled').length;
  const { months, available_micros, reservations } = (await allowance.read(ORGANIZATION)).allowance;
  const counted = Object.values(months).reduce((sum, checks) => sum + checks, 0);
  const { rows } = await ledger.list(ORGANIZATION, { types: null, created: null }, 0, 100);
  const left = START_MICROS - paid * PRICE_MICROS;
  assert.deepEqual(
    { counted, available_micros, booked: rows[0]?.balance_after_micros, reservations },
    { counted: paid, available_micros: left, booked: left, reservations: {} },
    about,
  );
}

describe('a process that is killed at any of its writes', () => {
  for (const isRun of [false, true])
    it(`leaves quota, balance and ledger right, whether or not another one repeats its ${isRun ? 'step of a run' : 'request'}`, async () => {
      let kills = 0;
      for (const isWritten of [false, true])
        for (const isRepeated of [false, true])
          for (let writes = 1, survives = false; !survives; writes += 1) {
            const store = await openStore({ path: ':memory:' });
            const second = processOn(store);
            await Promise.all([second.scans.createIndexes(), second.ledger.createIndexes()]);
            const mortal = mortalStore(store, writes, isWritten);
            const first = processOn(mortal.store);
            const died = async () => {
              await first.order(isRun);
              await first.relay(new Date());
            };
            await died().catch((error: unknown) =>
              assert.ok(error instanceof Killed || mortal.isDead(), String(error)),
            );
            survives = !mortal.isDead();
            if (isRepeated) await second.order(isRun);
            await second.relay(later());
            await second.release();
            await assertExact(store, `${writes} writes, written: ${isWritten}, repeated: ${isRepeated}`);
            await store.close();
            kills += survives ? 0 : 1;
          }
      assert.ok(kills > 20, `${kills} kills`);
    });
});
