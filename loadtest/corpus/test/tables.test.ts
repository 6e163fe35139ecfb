import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adNetworks } from '../ad-networks.ts';
import { describeFault, runCases } from '../score.ts';
import { taxonomy } from '../taxonomy.ts';

describe('the tables of classification', () => {
  for (const corpus of [taxonomy, adNetworks])
    it(`say what the corpus ${corpus.name} says`, async (test) => {
      const open = await corpus.open();
      if (!open) return test.skip('its data are not there');
      const outcomes = await runCases(open.cases, { times: 1, atOnce: 1 });
      assert.deepEqual(outcomes.map(describeFault).filter(Boolean), []);
    });
});
