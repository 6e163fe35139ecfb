import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { runningApi } from '../../../../control-plane/test/support/running-api.ts';
import { pathToRead, readArguments } from '../../src/mcp/read-arguments.ts';
import { PAGE_ROWS_MAX, type Tool, toolsOf } from '../../src/mcp/tools.ts';

let all: Tool[];
let tools: Map<string, Tool['listed']>;
before(async () => {
  const api = await runningApi();
  const { body } = await api.get('/api/v1/openapi.json');
  await api.stop();
  all = toolsOf(body);
  tools = new Map(all.map(({ listed }) => [listed.name, listed]));
});

test('hints follow from method and permission: what reads, what only adds, and what changes or removes', () => {
  const hints = (name: string) => {
    const { readOnlyHint, destructiveHint } = tools.get(name)!.annotations;
    return readOnlyHint ? 'reads' : destructiveHint ? 'changes' : 'adds';
  };
  assert.deepEqual(
    ['listScans', 'previewPolicySet', 'createScan', 'cancelScan', 'updateCampaign', 'deleteWebhook'].map(hints),
    ['reads', 'reads', 'adds', 'changes', 'changes', 'changes'],
  );
});

test('a schema takes path, query and body side by side, and is whole without the document', () => {
  const { properties, required } = tools.get('createScan')!.inputSchema;
  assert.ok('url' in properties && 'dry_run' in properties);
  assert.deepEqual(required, ['country_code', 'emulator_id']);
  assert.deepEqual(Object.keys(tools.get('getRun')!.inputSchema.properties), ['run_id', 'wait_seconds']);
  for (const { name, inputSchema } of tools.values()) {
    const text = JSON.stringify(inputSchema);
    const [, ...references] = text.split('"$ref":"').map((part) => part.slice(0, part.indexOf('"')));
    const definitions = Object.keys((inputSchema as { $defs?: object }).$defs ?? {});
    for (const one of references) assert.ok(definitions.includes(one.replace('#/$defs/', '')), `${name}: ${one}`);
  }
});

test('a tool that creates something takes an idempotency_key, and no other does', () => {
  const read = (name: string, key: unknown) =>
    readArguments(all.find(({ listed }) => listed.name === name)!, { id: 'one', idempotency_key: key });
  assert.ok('idempotency_key' in tools.get('createScan')!.inputSchema.properties);
  assert.ok(!('idempotency_key' in tools.get('cancelScan')!.inputSchema.properties));
  assert.equal(read('recheckScan', 'again').idempotencyKey, 'again');
  assert.equal(read('cancelScan', undefined).idempotencyKey, null);
  assert.throws(() => read('cancelScan', 'again'), /^TypeError: no such argument: idempotency_key/);
  for (const key of ['', 'é', 'a\nb', 5, 'x'.repeat(256)])
    assert.throws(() => read('recheckScan', key), /^TypeError: idempotency_key is a text/, String(key));
});

test('a page that a tool asks for has no more rows than can be shown', () => {
  const limits = [...tools.values()].flatMap(({ inputSchema: { properties } }) =>
    'page' in properties ? [(properties.limit as { maximum: number; default: number }) ?? {}] : [],
  );
  assert.ok(limits.length > 10);
  for (const limit of limits) assert.ok(limit.maximum === PAGE_ROWS_MAX && limit.default <= PAGE_ROWS_MAX);
});

test('names are those that every assistant takes, and all tools together are read in one go', () => {
  for (const name of tools.keys()) assert.match(name, /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/);
  assert.ok(JSON.stringify([...tools.values()]).length < 150_000);
});

test('the link to an answer is what the client asked for; what does something has none, and a stream that of what it ends with', () => {
  const linkOf = (name: string, sent: Record<string, unknown>) => {
    const tool = all.find(({ listed }) => listed.name === name)!;
    return pathToRead(tool.listed.name, readArguments(tool, sent));
  };
  const listed = { status: 'failed', campaign_id: null, label_team: 'a b', limit: 5 };
  assert.equal(linkOf('listScans', listed), '/api/v1/scans?status=failed&label_team=a+b&limit=5');
  assert.equal(
    linkOf('listBillingHistory', { type: ['refund', 'usage_charge'] }),
    '/api/v1/billing/history?type=refund&type=usage_charge',
  );
  assert.equal(linkOf('getScanEvents', { id: 'a/b' }), '/api/v1/scans/a%2Fb');
  assert.equal(linkOf('cancelScan', { id: 'one' }), null);
});
