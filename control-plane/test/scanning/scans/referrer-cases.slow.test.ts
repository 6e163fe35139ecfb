import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { corpusData } from '../../../../shared/test/support/corpus-data.ts';
import { PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';

const { path, skip } = corpusData('url/private-host-urls.json');

type Case = { input: string; href?: string; expect: string };

describe('collected URLs of private hosts', { skip }, () => {
  const cases = skip ? [] : (JSON.parse(readFileSync(path, 'utf8')) as Case[]);
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const isTaken = ({ expect }: Case) => expect.startsWith('accept');

  test('§4.2.15 each is accepted or refused as expected, as a referrer and as a page; the referrer is returned normalised', async () => {
    assert.ok(cases.length > 100);
    for (const one of cases) {
      const { input, href } = one;
      const [referrer, url] = [
        await api.post('/api/v1/scans', { ...PAGE, referrer: input }),
        await api.post('/api/v1/scans', { ...PAGE, url: input }),
      ];
      assert.deepEqual([referrer.status, url.status], isTaken(one) ? [201, 201] : [422, 422], JSON.stringify(one));
      if (isTaken(one)) assert.equal(referrer.body.referrer, href);
    }
  });

  test('§4.2.15 §2.1.5 those that are refused are also refused as the URL of an ad tag or a VAST tag', async () => {
    for (const { input } of cases.filter((one) => !isTaken(one))) {
      for (const kind of ['ad_tag', 'vast_tag']) {
        const answer = await api.post('/api/v1/scans?dry_run=true', { ...PAGE, url: undefined, [kind]: input });
        assert.equal(answer.status, 422, input);
        assert.notEqual(answer.body.detail[0].type, 'not_available', input);
      }
    }
  });
});
