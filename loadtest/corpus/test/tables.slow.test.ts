import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adNetworks } from '../ad-networks.ts';
import { exploitKits } from '../exploit-kits.ts';
import { publicSuffixes } from '../public-suffixes.ts';
import { describeFault, runCases } from '../score.ts';
import { taxonomy } from '../taxonomy.ts';

describe('corpora that need no browser', () => {
  for (const corpus of [taxonomy, adNetworks, publicSuffixes, exploitKits])
    it(`every case of the corpus ${corpus.name} has its expected outcome`, async (test) => {
      const open = await corpus.open();
      if (!open) return test.skip('its data are missing');
      try {
        const outcomes = await runCases(open.cases, { times: 1, atOnce: 1 });
        assert.deepEqual(outcomes.map(describeFault).filter(Boolean), []);
      } finally {
        await open.close();
      }
    });
});
