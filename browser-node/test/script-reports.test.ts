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
    const params = { name, payload: 'said', executionContextId: 7 };
    const message = { method: 'Runtime.bindingCalled', sessionId: 'P', params };
    reports.incoming(message);
    return message as { method: string; params: Record<string, unknown> };
  };
  assert.equal(called('other').method, 'Runtime.bindingCalled');
  const { method, params } = called(reports.name);
  assert.deepEqual(
    [method, params.type, params.args, params.executionContextId],
    ['Runtime.consoleAPICalled', 'debug', [{ type: 'string', value: '|said' }], 7],
  );
});

test('a report begins with the frame that Chromium names for its context, as long as the context lives', () => {
  const reports = new ScriptReports();
  const receive = (method: string, params: Record<string, unknown>, sessionId = 'P') =>
    reports.incoming({ method, params, sessionId });
  const created = (id: number, frameId: string, isDefault: boolean, sessionId?: string) =>
    receive('Runtime.executionContextCreated', { context: { id, auxData: { frameId, isDefault } } }, sessionId);
  const reportedBy = (executionContextId: number, payload = 'token|sound', sessionId = 'P') => {
    const params = { name: reports.name, payload, executionContextId };
    const message = { method: 'Runtime.bindingCalled', params, sessionId };
    reports.incoming(message);
    return (message.params as unknown as { args: { value: string }[] }).args[0]?.value;
  };
  created(1, 'page', true);
  created(2, 'ad', true);
  created(3, 'ad', false);
  created(1, 'of-another-site', true, 'F');
  assert.equal(reportedBy(1), 'page|token|sound');
  assert.equal(reportedBy(2), 'ad|token|sound');
  assert.equal(reportedBy(1, 'token|sound', 'F'), 'of-another-site|token|sound');
  assert.equal(reportedBy(1, 'ad|token|sound'), 'page|ad|token|sound', 'what a page writes comes after its frame');
  assert.equal(reportedBy(3), '|token|sound', 'page scripts do not run in isolated worlds');
  receive('Runtime.executionContextDestroyed', { executionContextId: 2 });
  assert.equal(reportedBy(2), '|token|sound');
  receive('Runtime.executionContextsCleared', {});
  assert.equal(reportedBy(1), '|token|sound');
});
