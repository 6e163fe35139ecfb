import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import type { OrganizationRecord } from '../../src/accounts/organizations/organization.ts';
import { isDue } from '../../src/console/visit.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { ORGANIZATIONS, type RunningApi, runningApi } from '../support/running-api.ts';

describe('a page of the console that is read again', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  test('reads what rarely changes when it is loaded, and then once in each of its periods', () => {
    const seconds = [0, 10, 20, 30, 40, 50, 60, 70, 120];
    assert.deepEqual(
      seconds.filter((openSeconds) => isDue({ openSeconds }, 10, 60)),
      [0, 60, 120],
    );
    assert.deepEqual(
      [0, 4, 8, 12, 28, 32, 60].filter((openSeconds) => isDue({ openSeconds }, 4, 30)),
      [0, 32, 60],
    );
  });

  const limitTo = (requests: number) =>
    api.store
      .collection<OrganizationRecord>('organizations')
      .updateOne({ _id: ORGANIZATIONS.ours }, { $set: { 'quotas.requests_per_minute': requests } });

  test('counts as one request, whatever it reads, and leaves out what needs a person', async () => {
    await limitTo(1_000);
    const browser = consoleBrowser(api);
    const cookie = await browser.signIn();
    const left = async () => Number((await api.get('/api/v1/geos')).headers.get('ratelimit-remaining'));
    const costOf = async (openSeconds: number) => {
      const before = await left();
      const { text } = await browser.get('', cookie, { 'console-open-seconds': String(openSeconds) });
      // The request that reads what is left counts too.
      return [before - (await left()) - 1, text.includes('data-region="concerns"')];
    };
    assert.deepEqual(await costOf(10), [1, false]);
    assert.deepEqual(await costOf(60), [1, true]);
  });

  test('is a page too where the organization has made too many requests', async () => {
    await limitTo(1_000);
    const browser = consoleBrowser(api);
    const cookie = await browser.signIn();
    await limitTo(1);
    await until('the limit', async () => (await api.get('/api/v1/geos')).status === 429);
    const { status, headers, text } = await browser.get('/scans?status=failed', cookie);
    assert.deepEqual([status, headers.get('content-type')], [429, 'text/html; charset=utf-8']);
    assert.ok(Number(headers.get('retry-after')) > 0);
    assert.match(text, /<h1>This is not possible now<\/h1>[\s\S]*href="\/console\/scans\?status=failed">Try again/);
  });
});
