import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScriptReports } from '../src/browser/script-reports.ts';

const attached = (sessionId: string, type: string) => ({
  method: 'Target.attachedToTarget',
  params: { sessionId, targetInfo: { type } },
});

test('pages send what scripts report with short stacks, and workers send nothing', () => {
  const reports = new ScriptReports();
  for (const [id, type] of Object.entries({ P: 'page', W: 'worker', S: 'shared_worker' }))
    assert.ok(reports.incoming(attached(id, type)));
  const methods = (sessionId: string) =>
    reports.outgoing({ id: 1, sessionId, method: 'Runtime.enable' }).map(({ method }) => method);
  assert.deepEqual(methods('P'), ['Runtime.enable', 'Runtime.setMaxCallStackSizeToCapture', 'Runtime.addBinding']);
  assert.deepEqual([...methods('W'), ...methods('S')], ['Runtime.disable', 'Runtime.disable']);
});

test('a report reaches Playwright as a console line, a call of another binding as it is', () => {
  const reports = new ScriptReports();
  const called = (name: string) => {
    const message = { method: 'Runtime.bindingCalled', params: { name, payload: 'said', executionContextId: 7 } };
    reports.incoming(message);
    return message as { method: string; params: Record<string, unknown> };
  };
  assert.equal(called('other').method, 'Runtime.bindingCalled');
  const { method, params } = called(reports.name);
  assert.deepEqual(
    [method, params.type, params.args, params.executionContextId],
    ['Runtime.consoleAPICalled', 'debug', [{ type: 'string', value: 'said' }], 7],
  );
});
