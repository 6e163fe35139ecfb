import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { watchLoading } from '../src/lease/watch-loading.ts';

const logger = createLogger('test', 'silent');

const STEPS = 6;

/** Watches traffic that is given answer by answer, the last one for ever; returns how often the control plane was told in six steps. */
async function told(answers: ({ bytes_sent: number } | null)[], refusals: Error[] = []): Promise<number> {
  let [asked, reports] = [0, 0];
  mock.timers.enable({ apis: ['setInterval'] });
  const traffic = async () => answers[Math.min(asked++, answers.length - 1)] ?? null;
  const report = async () => {
    reports += 1;
    const refusal = refusals.shift();
    if (refusal) throw refusal;
  };
  const end = watchLoading({ traffic, report }, logger);
  for (let step = 0; step < STEPS; step += 1) {
    mock.timers.tick(2_000);
    await setImmediate();
  }
  end();
  mock.timers.reset();
  return reports;
}

describe('an attempt that runs', () => {
  it('reports once that its target was requested, as soon as the gateway has sent something', async () => {
    assert.equal(await told([null, { bytes_sent: 0 }, { bytes_sent: 500 }]), 1);
    assert.equal(await told([{ bytes_sent: 0 }]), 0);
  });

  it('reports it again if the control plane could not be reached, but not if it refused the call', async () => {
    assert.equal(await told([{ bytes_sent: 500 }], [new TypeError('fetch failed')]), 2);
    assert.equal(await told([{ bytes_sent: 500 }], [new NodeApiError('loaded', 404, 'not_found', '')]), 1);
  });

  it('reports it again if the control plane could not serve the call at that moment', async () => {
    for (const status of [429, 500, 503])
      assert.equal(await told([{ bytes_sent: 500 }], [new NodeApiError('loaded', status, '', '')]), 2, String(status));
  });
});
