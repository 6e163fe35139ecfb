import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Store } from '../../src/store-shape.ts';
import type { Anything, Check } from './check.ts';
import { bulkChecks } from './checks/bulk-checks.ts';
import { filterChecks } from './checks/filter-checks.ts';
import { findAndChangeChecks } from './checks/find-and-change-checks.ts';
import { findChecks } from './checks/find-checks.ts';
import { indexChecks } from './checks/index-checks.ts';
import { orderChecks } from './checks/order-checks.ts';
import { updateChecks } from './checks/update-checks.ts';
import { valueChecks } from './checks/value-checks.ts';
import { writeChecks } from './checks/write-checks.ts';

const CHECKS: readonly Check[] = [
  ...writeChecks,
  ...findChecks,
  ...filterChecks,
  ...orderChecks,
  ...valueChecks,
  ...updateChecks,
  ...findAndChangeChecks,
  ...bulkChecks,
  ...indexChecks,
];

/**
 * Runs every check against a store. `leaveOut` says, sentence by sentence, what this store cannot take and why; a
 * sentence that no check has is an error, so that the list cannot grow old.
 */
export function describeStore(
  name: string,
  open: () => Promise<Store>,
  { leaveOut = {} }: { leaveOut?: Readonly<Record<string, string>> } = {},
): void {
  describe(name, () => {
    let store: Store;
    before(async () => {
      store = await open();
    });
    after(() => store.close());

    for (const [sentence, holds] of CHECKS) {
      it(sentence, { skip: leaveOut[sentence] ?? false }, async () => {
        const things = store.collection<Anything>(`things_${randomUUID().slice(0, 8)}`);
        await holds(things, store);
      });
    }

    it(`takes all checks but the ${Object.keys(leaveOut).length} of ${CHECKS.length} that are left out`, (context) => {
      const sentences = new Set(CHECKS.map(([sentence]) => sentence));
      assert.equal(sentences.size, CHECKS.length, 'two checks have the same sentence');
      for (const [sentence, reason] of Object.entries(leaveOut)) {
        assert.ok(sentences.has(sentence), `no check is called: ${sentence}`);
        context.diagnostic(`left out: ${sentence} (${reason})`);
      }
    });
  });
}
