import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CaptureSchema } from '@adsweep/shared/capture/capture.ts';
import { Value } from 'typebox/value';
import type { OpenContext } from '../src/browser/open-context.ts';
import { unseen } from '../src/capture/capture.ts';

it('a capture that saw nothing is valid although the clock was set back meanwhile', () => {
  const open = { browserName: 'Chromium', browserVersion: '156.0.0.0' } as OpenContext;
  const { capture } = unseen(open, Date.now() + 60_000);
  assert.deepEqual([...Value.Errors(CaptureSchema, capture)], []);
});
