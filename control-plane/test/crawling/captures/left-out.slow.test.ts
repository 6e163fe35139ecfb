import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  COLLECTORS,
  type CollectorName,
  NOTE_WORDS,
  type Note,
  type NoteKind,
  note,
  noteSentence,
} from '@adsweep/shared/capture/notes.ts';
import { type Listening, listen } from '@adsweep/shared/service/listen.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { judgementsWithout } from '../../../src/analysis/evidence/missing-evidence.ts';
import { nodeApp } from '../../../src/compose/create-app.ts';
import { startLoops } from '../../../src/compose/roles.ts';
import type { Loop } from '../../../src/platform/start-loop.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { NODE_TOKEN } from '../../support/open-plane.ts';
import { type Json, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';
import { captureOf } from '../../support/running-farm.ts';
import { SimulatedNode } from '../../support/simulated-node.ts';

/** Kinds on whose tab it depends what rests on them. */
const OF_TABS: NoteKind[] = ['picture', 'closed'];

/** Every kind of note, and of those about a collector one for each of them. */
const NOTES: Note[] = (Object.keys(NOTE_WORDS) as NoteKind[]).flatMap((kind) => {
  if (kind === 'collector_timed_out')
    return (Object.keys(COLLECTORS) as CollectorName[]).map((collector) => note(kind, { collector, landing: 0 }));
  if (kind.startsWith('collector_')) return [note(kind, { collector: 'documents', landing: 0, count: 2 })];
  return (OF_TABS.includes(kind) ? [null, 0, 3] : [0]).map((landing) => note(kind, { landing, count: 2 }));
});

describe('what was left out of a capture', () => {
  let api: RunningApi;
  let server: Listening;
  let loops: Loop[];
  before(async () => {
    api = await runningApi();
    server = await listen('127.0.0.1', 0, 'ADSWEEP_NODE_API_PORT');
    server.serve(nodeApp({ ...api, readyChecks: [], metricsToken: NODE_TOKEN }).callback());
    loops = await startLoops(api.domains, ['checks', 'relay']);
  });
  after(async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await server.close(0);
    await api.stop();
  });

  it('§2.1.19 is said by the scan and its report, whatever its kind, and the scan is partial where a judgement rests on it', async () => {
    const scans = api.store.collection<ScanRecord>('scans');
    const node = new SimulatedNode(`http://127.0.0.1:${server.port}`, NODE_TOKEN);
    const seen: Record<string, boolean> = {};
    for (const one of NOTES) {
      const { id } = (await api.post('/api/v1/scans', PAGE)).body;
      const { leases } = await node.acquire({ node_id: 'node-1', max: 1, wait_ms: 5_000 });
      await node.complete(leases[0]!, captureOf([PAGE.url], { notes: [one] }));
      const scan = await until('the scan to end', async () => {
        const now = await scans.findOne({ _id: id });
        return now?.completed_at && now;
      });
      const shown = (await api.get(`/api/v1/scans/${id}`)).body as Json;
      const words = JSON.stringify(one);
      assert.deepEqual(shown.left_out, [
        { kind: one.kind, landing: one.landing, count: one.count, text: noteSentence(one) },
      ]);
      const rests = judgementsWithout(one).length > 0;
      assert.equal(shown.status, rests ? 'partial' : 'completed', words);
      const { text } = await api.get(`/r/${scan.report_token}`, { key: null });
      assert.ok(text.includes('Limits of this scan'), words);
      assert.ok(text.includes(noteSentence(one).replaceAll("'", '&#39;')), `${words}: ${noteSentence(one)}`);
      assert.equal(text.includes('Incomplete checks: ') || text.includes('class="medium"'), rests, words);
      seen[one.kind] = rests;
    }
    assert.equal(Object.keys(seen).length, Object.keys(NOTE_WORDS).length);
  });
});
