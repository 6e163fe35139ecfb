import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOneOfSecrets } from '@adsweep/shared/service/bearer.ts';
import { ConfigError, loadConfig } from '@adsweep/shared/service/load-config.ts';
import { mayReadMetrics } from '@adsweep/shared/service/metrics.ts';
import { metricsTokenSetting } from '@adsweep/shared/service/settings.ts';
import { Type } from 'typebox';

const [NEW, OLD] = ['new-token-of-16-chars', 'old-token-of-16-chars'];

test('each secret of a list is accepted, and a request without a credential never is', () => {
  for (const token of [NEW, OLD]) assert.ok(mayReadMetrics(`Bearer ${token}`, `${NEW},${OLD}`));
  for (const list of ['', ',', `${NEW},`, `,${NEW}`]) {
    assert.equal(isOneOfSecrets('', list), false, list);
    assert.equal(mayReadMetrics(undefined, list), false, list);
  }
});

test('a metrics token has at least 16 characters between its commas', () => {
  const Schema = Type.Object({ ADSWEEP_METRICS_TOKEN: metricsTokenSetting });
  const load = (token: string) => loadConfig(Schema, { ADSWEEP_METRICS_TOKEN: token }).ADSWEEP_METRICS_TOKEN;
  for (const token of ['', NEW, `${NEW},${OLD}`]) assert.equal(load(token), token);
  for (const token of [',', `${NEW},`, `,${NEW}`, `${NEW},,${OLD}`, `${NEW},short`, 'short', 'with a space in between'])
    assert.throws(() => load(token), ConfigError, token);
});
