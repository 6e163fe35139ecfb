import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { newId } from '@adsweep/shared/ids.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { ruleTestRoutes } from '../../../src/analysis/rules/rule-tests/routes.ts';
import type { ApiError } from '../../../src/http/api-error.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';
import { captureOf, gzJson, requestOf } from '../../support/running-farm.ts';
import { sampleScan, sampleTag } from '../../support/sample-scan.ts';
import { storeCapture } from '../../support/store-capture.ts';

const [TEST, BATCH] = ['/api/v1/custom-rules/test', '/api/v1/custom-rules/test-batch'];
const kit = { rule_type: 'regexp_request_url', config: { pattern: 'kit-\\d' } };
const shop = { rule_type: 'blacklist_domain', config: { domains: ['shop.example'] }, tag_slug: 'shop' };
const never = { rule_type: 'stopword_url', config: { contains: ['nowhere'] } };

describe('rule tests', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi({ settings: { ruleTests: limits } });
  });
  const usual = { ruleMs: 2_000, batchMs: 110_000 };
  const limits = { ...usual };
  afterEach(() => void Object.assign(limits, usual));
  after(() => api.stop());

  /** A finished scan that asked for `kit-7`, with a capture. */
  async function finished(change: Partial<ScanRecord> = {}, seen: Partial<Capture> = {}): Promise<string> {
    const id = newId();
    const capture = captureOf(['https://t.example/', 'https://shop.example/'], {
      requests: [requestOf(1, { url: 'https://cdn.example/kit-7.js' })],
      ...seen,
    });
    const summary = await storeCapture(api, id, capture);
    const scan = sampleScan({ _id: id, organization_id: ORGANIZATIONS.ours, outbox: [], capture: summary, ...change });
    await api.scans.insertUnlessExists(scan);
    return id;
  }
  const batch = (rules: object[], scan_ids: string[], key = KEYS.ours) => api.post(BATCH, { rules, scan_ids }, { key });
  const shown = ({ body }: { body: Json }) =>
    body.results.map(({ index, matched, error_code }: Json) => `${index} ${matched} ${error_code}`);

  it('§2.7.2 a single test returns whether it matched, the tags and the time, and changes nothing', async () => {
    const scan_id = await finished();
    const before = await api.scans.find(ORGANIZATIONS.ours, scan_id);
    const { status, body } = await api.post(TEST, { scan_id, ...kit, name: 'Kits' });
    assert.equal(status, 200);
    const { elapsed_ms, ...rest } = body;
    const detail = 'Rule "Kits": a request of landing 0, at 20: https://cdn.example/«kit-7».js';
    assert.deepEqual(rest, { matched: true, tags: [{ tag_slug: 'rule-test', detail }], llm_failed: false });
    assert.ok(Number.isInteger(elapsed_ms));
    const none = (await api.post(TEST, { scan_id, ...never })).body;
    assert.deepEqual([none.matched, none.tags], [false, []]);
    assert.deepEqual(await api.scans.find(ORGANIZATIONS.ours, scan_id), before);
    assert.equal((await api.get('/api/v1/custom-rules')).body.total, 0);
  });

  it('§4.4.1 both need custom_rules.manage', async () => {
    const key = await api.keyThatMay('scans.read', 'scans.write');
    const scan_id = await finished();
    assert.equal((await api.post(TEST, { scan_id, ...kit }, { key })).status, 403);
    assert.equal((await batch([kit], [scan_id], key)).status, 403);
  });

  it('§4.4.3 the evidence of four of an organization’s scans is read at once, and another’s tests do not wait', async (t) => {
    const [scan_id, theirScan] = [await finished(), await finished({ organization_id: ORGANIZATIONS.theirs })];
    const held = Promise.withResolvers<void>();
    t.after(() => held.resolve());
    let reading = 0;
    const done = api.intercept('captures', 'findOne', async () => {
      reading += 1;
      await held.promise;
    });
    const tests = Array.from({ length: 50 }, () => api.post(TEST, { scan_id, ...kit }));
    await until('some evidence is read', () => reading >= 4);
    const theirs = api.post(TEST, { scan_id: theirScan, ...kit }, { key: KEYS.theirs });
    await until('that of theirs is read', () => reading > 4);
    assert.equal(reading, 5);
    held.resolve();
    done();
    const matched = (await Promise.all([...tests, theirs])).map(({ body }) => body.matched);
    assert.deepEqual([...new Set(matched)], [true]);
  });

  it('§4.4.5 a missing scan is 404, and so is another organization’s; one under way is refused', async () => {
    const scan_id = await finished();
    assert.equal((await api.post(TEST, { scan_id, ...kit }, { key: KEYS.theirs })).status, 404);
    assert.equal((await api.post(TEST, { scan_id: newId(), ...kit })).status, 404);
    const running = await finished({ status: 'running' });
    assert.equal((await api.post(TEST, { scan_id: running, ...kit })).body.code, 'checking.scan_not_finished');
  });

  it('§2.7.1 a batch returns cells by rule and then by scan, with the ids of the request and a summary', async () => {
    const scans = [await finished(), await finished()];
    const { status, body } = await batch([{ ...kit, id: 'any text' }, never, shop], scans);
    assert.equal(status, 200);
    const cells = body.results.map(({ index, rule_id, scan_id, matched }: Json) => [index, rule_id, scan_id, matched]);
    assert.deepEqual(cells, [
      [0, 'any text', scans[0], true],
      [0, 'any text', scans[1], true],
      [1, null, scans[0], false],
      [1, null, scans[1], false],
      [2, null, scans[0], true],
      [2, null, scans[1], true],
    ]);
    assert.deepEqual(
      body.results[4].tags.map(({ tag_slug }: Json) => tag_slug),
      ['shop'],
    );
    assert.deepEqual(body.summary, { total: 6, matched: 4, failed: 0, deadline_exceeded: 0 });
  });

  it('§4.4.2 a cell without a result has an error and does not affect the others', async () => {
    const [good, running, theirs] = [
      await finished(),
      await finished({ status: 'running' }),
      await finished({ organization_id: ORGANIZATIONS.theirs }),
    ];
    const answer = await batch([kit], [newId(), good, running, theirs]);
    assert.deepEqual(shown(answer), [
      '0 false scan_not_found',
      '0 true null',
      '0 false failed',
      '0 false scan_not_found',
    ]);
    assert.deepEqual(answer.body.summary, { total: 4, matched: 1, failed: 3, deadline_exceeded: 0 });
    assert.match(answer.body.results[0].error, /no such scan/);
  });

  it('§4.4.2 a rule that exceeds its time limit is timed_out in a batch and 504 in a single test; combos are not affected', async () => {
    const scan = await finished({ tags: [sampleTag('autosound', '')] });
    limits.ruleMs = 0;
    const combo = { rule_type: 'combo', config: { all_of: ['autosound'] } };
    const answer = await batch([kit, combo, shop], [scan]);
    assert.deepEqual(shown(answer), ['0 false timed_out', '1 true null', '2 false timed_out']);
    assert.deepEqual(answer.body.summary, { total: 3, matched: 1, failed: 2, deadline_exceeded: 0 });
    assert.match(answer.body.results[0].error, /time limit/);
    const { status, body } = await api.post(TEST, { scan_id: scan, ...kit });
    assert.deepEqual([status, body.code], [504, 'checking.rule_test_timed_out']);
  });

  it('§2.6.13 a rule searches the page, the creative, or both', async () => {
    const creative = {
      ...{ url: 'https://ads.example/frame', width: 300, height: 250, page_url: 'https://news.example/' },
      ...{ page_title: '', redirect_chain: captureOf(['https://ads.example/frame']).landings[0]!.redirect_chain },
    };
    const scan = await finished({ target: { kind: 'ad_tag', value: '<a>' } }, { creative });
    const on = (domain: string, target?: string) => ({
      ...{ rule_type: 'blacklist_domain', config: { domains: [domain] } },
      ...(target === undefined ? {} : { target }),
    });
    const targets = [undefined, 'page', 'creative', 'creative_and_page'];
    for (const [domain, found] of [
      ['ads.example', [false, false, true, true]],
      ['shop.example', [true, true, false, true]],
    ] as const) {
      const { body } = await batch(
        targets.map((target) => on(domain, target)),
        [scan],
      );
      assert.deepEqual(
        body.results.map(({ matched }: Json) => matched),
        found,
        domain,
      );
    }
    const answer = await api.post(TEST, { scan_id: scan, ...kit, target: 'creative' });
    assert.equal(answer.status, 422, 'the two types for requests look at all of them');
  });

  it('§4.4.2 a rule that cannot be read when it is run is invalid_rule, and does not affect the others', async () => {
    const scans = [await finished(), await finished()];
    // As if what checks rules took what cannot be run.
    const { analysis, accounts } = api.domains;
    const { ruleTests } = analysis.dependencies;
    const { requireSolvent } = accounts.verbs;
    const problemsOf = async (_: string | null, patterns: string[]) => patterns.map(() => null);
    const [single, several] = ruleTestRoutes({ rules: api.rules, ruleTests, problemsOf, requireSolvent });
    const caller = { organizationId: ORGANIZATIONS.ours };
    const unreadable = { rule_type: 'regexp_request_url', config: { pattern: 'kit-(' } };
    const asked = { caller, body: { rules: [unreadable, kit], scan_ids: scans } };
    const answer = (await several!.handle(asked as never)) as { body: Json };
    assert.deepEqual(shown(answer), [
      ...['0 false invalid_rule', '0 false invalid_rule'],
      ...['1 true null', '1 true null'],
    ]);
    assert.match(answer.body.results[0].error, /could not be read/);
    assert.deepEqual(answer.body.summary, { total: 4, matched: 2, failed: 2, deadline_exceeded: 0 });
    const alone = { caller, body: { scan_id: scans[0], ...unreadable } };
    await assert.rejects(
      async () => single!.handle(alone as never),
      ({ status, detail }: ApiError) => {
        const items = (detail as Issue[]).map(({ loc, type }) => `${loc.join('.')} ${type}`);
        assert.deepEqual([status, items], [422, ['body.config invalid_rule']]);
        return true;
      },
    );
  });

  it('§4.4.2 a rule over a part of the evidence whose file is gone has no result, and does not affect the others', async () => {
    const scan_id = await finished();
    const { artifacts } = api.domains.scanning.stores;
    const ref = { scanId: scan_id, fence: 1 };
    await artifacts.write(ref, 'documents.json.gz', gzJson([]), 60_000, new Date());
    const content = { rule_type: 'stopword_content', config: { contains: ['casino'] } };
    assert.deepEqual(shown(await batch([content, kit], [scan_id])), ['0 false null', '1 true null']);
    await api.objects.deleteBelow(`scans/${scan_id}`);
    assert.deepEqual(shown(await batch([content, kit], [scan_id])), ['0 false failed', '1 true null']);
  });

  it('§4.4.7 a batch loads each scan once, and changes none', async () => {
    const scans = [await finished(), await finished()];
    const loaded: string[] = [];
    const done = api.intercept('captures', 'findOne', async ({ _id }: { _id: string }) => void loaded.push(_id));
    const before = await Promise.all(scans.map((id) => api.scans.find(ORGANIZATIONS.ours, id)));
    const answer = await batch([kit, shop, never, kit], scans);
    done();
    assert.equal(answer.body.summary.matched, 6);
    assert.deepEqual(loaded.toSorted(), scans.map((id) => `${id}:1`).toSorted());
    assert.deepEqual(await Promise.all(scans.map((id) => api.scans.find(ORGANIZATIONS.ours, id))), before);
    assert.equal((await api.get('/api/v1/custom-rules')).body.total, 0);
  });

  it('§8.5 a body rule that is tested on a scan without contents matches nothing', async () => {
    const scan = await finished();
    const body = { rule_type: 'regexp_request_body', config: { pattern: '.' } };
    assert.deepEqual(shown(await batch([body, kit], [scan])), ['0 false null', '1 true null']);
  });

  it('§4.4.2 combos are tested on the tags of the scan', async () => {
    const scan = await finished({ tags: [sampleTag('autosound', '')] });
    const rule = (config: object) => ({ rule_type: 'combo', config });
    assert.deepEqual(shown(await batch([rule({ all_of: ['autosound'] }), rule({ none_of: ['autosound'] })], [scan])), [
      '0 true null',
      '1 false null',
    ]);
  });

  it('§4.4.2 a combo is not tested on tags that combos assigned, which it would not see in a scan', async () => {
    const scan = await finished({
      tags: [sampleTag('autosound', ''), { ...sampleTag('back_button', ''), of_combo: true }],
    });
    const rule = (config: object) => ({ rule_type: 'combo', config });
    const answer = await batch([rule({ all_of: ['back_button'] }), rule({ none_of: ['back_button'] })], [scan]);
    assert.deepEqual(shown(answer), ['0 false null', '1 true null']);
  });

  it('§4.4.2 a second batch of an organization at the same time is refused', async () => {
    const scan = await finished();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const began = Promise.withResolvers<void>();
    const done = api.intercept('scans', 'findOne', async () => {
      began.resolve();
      await held;
    });
    const first = batch([kit], [scan]);
    await began.promise;
    const second = await batch([kit], [scan]);
    assert.deepEqual([second.status, second.body.code], [429, 'checking.rule_test_batch_in_progress']);
    assert.ok(Number(second.headers.get('retry-after')) > 0);
    const theirs = batch([kit], [scan], KEYS.theirs);
    release();
    done();
    assert.deepEqual([(await first).status, (await theirs).status], [200, 200]);
    assert.equal((await batch([kit], [scan])).status, 200, 'and the next one runs');
  });

  it('§4.4.4 a batch whose scans cannot be read before the deadline is 504, and the next one is accepted', async () => {
    const scan = await finished();
    limits.batchMs = 50;
    const done = api.intercept('scans', 'findOne', () => new Promise(() => undefined));
    const late = await batch([kit], [scan]);
    assert.deepEqual([late.status, late.body.code], [504, 'checking.rule_test_batch_timed_out']);
    done();
    limits.batchMs = usual.batchMs;
    assert.equal((await batch([kit], [scan])).status, 200);
  });

  it('§4.4.4 cells without a result before the deadline are deadline_exceeded, also in the summary', slow, async () => {
    const scans = [await finished(), await finished()];
    limits.batchMs = 1_500;
    const done = api.intercept('captures', 'findOne', () => new Promise(() => undefined));
    const answer = await batch([kit, shop], scans);
    done();
    assert.ok(shown(answer).every((cell: string) => cell.endsWith('deadline_exceeded')));
    assert.deepEqual(answer.body.summary, { total: 4, matched: 0, failed: 4, deadline_exceeded: 4 });
  });

  it('§4.4.3 too many or no rules or scans, a repeated scan and an invalid rule are 422, and nothing runs', async () => {
    const scan = await finished();
    const refusals = async (rules: object[], scans: string[]) => {
      const answer = await batch(rules, scans);
      assert.equal(answer.status, 422, answer.text);
      return answer;
    };
    for (const [rules, scans] of [
      [[], [scan]],
      [[kit], []],
      [Array(21).fill(kit), [scan]],
      [[kit], Array.from({ length: 51 }, () => newId())],
      [[kit], [scan, scan]],
      [[kit], ['no-uuid']],
    ] as [object[], string[]][])
      await refusals(rules, scans);
    const invalid = { rule_type: 'regexp_url', config: { pattern: '(' } };
    const answer = await refusals([kit, never, invalid], [scan]);
    assert.deepEqual(itemsOf(answer), ['body.rules.2.config.pattern regexp']);
    assert.match(answer.body.detail[0].msg, /^rules\[2\]: /);
    for (const unread of [
      { rule_type: 'unknown', config: {} },
      { rule_type: 'combo' },
      { ...kit, target: 'x' },
      { ...kit, more: 1 },
    ]) {
      const told = (await refusals([kit, unread], [scan])).body.detail;
      assert.ok(
        told.every(({ msg }: { msg: string }) => msg.startsWith('rules[1]: ')),
        JSON.stringify(told),
      );
    }
  });
});
