import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { containFaults } from '../src/node/contain-faults.ts';

const PLAYWRIGHT = 'file:///srv/adsweep/node_modules/playwright-core/lib/coreBundle.js:1:2';
const OURS = 'file:///srv/adsweep/browser-node/src/capture/capture.ts:3:4';

/** An error with these stack frames, the innermost first. */
function thrownAt(...places: string[]): Error {
  const error = new Error('Assertion error');
  error.stack = `Error: Assertion error\n${places.map((place) => `    at someFunction (${place})`).join('\n')}`;
  return error;
}

/** How a node handles an uncaught error: its `browsers` end, or it exits with a code. */
function reactionTo(error: unknown, origin = 'uncaughtException'): string {
  let reaction = '';
  const source = Object.assign(new EventEmitter(), {
    exit: (code: number) => {
      reaction += `exit ${code}`;
    },
  });
  containFaults(
    source,
    () => {
      reaction += 'browsers';
    },
    createLogger('test', 'silent'),
  );
  source.emit('uncaughtException', error, origin);
  return reaction;
}

describe('an uncaught error', () => {
  it('an uncaught error thrown by Playwright ends the browsers and not the node', () => {
    assert.equal(reactionTo(thrownAt(PLAYWRIGHT, OURS)), 'browsers');
    assert.equal(reactionTo(thrownAt('node:internal/process/task_queues:104:5', PLAYWRIGHT)), 'browsers');
  });

  it('an uncaught error thrown by our code ends the node, even in a callback from Playwright', () => {
    assert.equal(reactionTo(thrownAt(OURS, PLAYWRIGHT)), 'exit 1');
    assert.equal(reactionTo(new Error('ours')), 'exit 1');
    assert.equal(reactionTo('not an Error'), 'exit 1');
  });

  it('a promise that rejects before anything waits for it ends neither the browsers nor the node', () => {
    for (const error of [thrownAt(OURS), thrownAt(PLAYWRIGHT), 'not an Error'])
      assert.equal(reactionTo(error, 'unhandledRejection'), '');
  });
});
