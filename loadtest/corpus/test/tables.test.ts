import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adNetworks } from '../ad-networks.ts';
import { exploitKits } from '../exploit-kits.ts';
import { publicSuffixes } from '../public-suffixes.ts';
import { describeFault, runCases } from '../score.ts';
import { taxonomy } from '../taxonomy.ts';

describe('the tables of names and signatures', () => {
  for (const corpus of [taxonomy, adNetworks, publicSuffixes, exploitKits])
    it(`agree with all cases of the corpus ${corpus.name}`, async (test) => {
      const open = await corpus.open();
      if (!open) return test.skip('its data is missing');
      try {
        const outcomes = await runCases(open.cases, { times: 1, atOnce: 1 });
        assert.deepEqual(outcomes.map(describeFault).filter(Boolean), []);
      } finally {
        await open.close();
      }
    });
});
