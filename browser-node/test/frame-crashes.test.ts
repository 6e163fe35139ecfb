import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProtocolMessage } from '../src/browser/cdp-messages.ts';
import { FrameCrashes } from '../src/browser/frame-crashes.ts';

test('a frame that crashes is gone for Playwright, a tab that does has crashed', () => {
  const crashes = new FrameCrashes();
  const attach = (sessionId: string, type: string, parent?: string) =>
    crashes.incoming({
      method: 'Target.attachedToTarget',
      params: { sessionId, targetInfo: { targetId: `target-${sessionId}`, type } },
      ...(parent !== undefined && { sessionId: parent }),
    });
  attach('tab', 'page');
  attach('frame', 'iframe', 'tab');
  const crash = (sessionId: string) => {
    const message: ProtocolMessage = { method: 'Inspector.targetCrashed', params: {}, sessionId };
    assert.equal(crashes.incoming(message), true);
    return message;
  };
  assert.deepEqual(crash('frame'), {
    method: 'Target.detachedFromTarget',
    params: { sessionId: 'frame', targetId: 'target-frame' },
    sessionId: 'tab',
  });
  assert.equal(crash('tab').method, 'Inspector.targetCrashed');
});
