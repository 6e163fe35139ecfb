import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { Draft } from '../src/capture/collectors/collector.ts';
import { documents } from '../src/capture/collectors/documents.ts';
import { watchLandings } from '../src/capture/note-missing.ts';
import type { MemberCapture } from '../src/capture/session/capture-session.ts';
import { selectFrames } from '../src/capture/session/frames.ts';

/** A tab whose renderer does not answer, although the browser does, unless it is `isLost`. */
function silentTab(isLost: boolean) {
  const frameTree = { frame: { id: 'tab', url: 'http://a.example/' } };
  const answers: Record<string, unknown> = {
    'Page.getFrameTree': { frameTree },
    ...(!isLost && { 'Page.getNavigationHistory': { entries: [{ title: 'a  title\u0000' }], currentIndex: 0 } }),
  };
  const send = async (command: string) => {
    if (!(command in answers)) throw new Error('no answer');
    return answers[command];
  };
  return {
    page: { isClosed: () => false },
    tab: { session: { targetId: 'tab', send }, committed: true, refused: false },
  };
}

function captureOf(landing: ReturnType<typeof silentTab>) {
  const notes: unknown[] = [];
  const landings = { all: [{ ord: 0, ...landing }], shown: () => [{ ord: 0, ...landing }] };
  const devtools = { sessions: () => [landing.tab.session], on: () => undefined };
  const capture = {
    notes,
    landings,
    devtools,
    reports: { on: () => undefined },
    logger: { info: () => undefined },
    startedAt: 0,
    tabs: { uninspected: 0, unanswered: () => [] },
  };
  const draft = { landings: [{ ord: 0, page_title: '', site_name: '', screenshot: null }], documents: [], files: [] };
  return { notes, capture: capture as unknown as MemberCapture, draft: draft as unknown as Draft };
}

describe('the documents of a capture', () => {
  it('keep the title that the browser knows of a page that does not answer, and say that its text is missing', async () => {
    const { capture, draft, notes } = captureOf(silentTab(false));
    await (await documents.start(capture))(draft, { error: '', failure: null }, 1_000);
    assert.equal(draft.landings[0]?.page_title, 'a  title');
    assert.deepEqual(notes, [note('text', { landing: 0, count: 1 })]);
  });

  it('say that the title is missing if the browser does not know it', async () => {
    const { capture, draft, notes } = captureOf(silentTab(true));
    await (await documents.start(capture))(draft, { error: '', failure: null }, 1_000);
    assert.deepEqual(notes, [note('text', { landing: 0, count: 1 }), note('title', { landing: 0 })]);
  });

  it('do not lack the text of a frame that was removed while they were read', async () => {
    const landing = silentTab(false);
    let reads = 0;
    landing.tab.session.send = async (command: string) => {
      const frame = (id: string) => ({ frame: { id, url: `http://${id}.example/` } });
      const childFrames = reads < 2 ? [frame('ad')] : [];
      if (command === 'Page.getFrameTree') return { frameTree: { ...frame('tab'), childFrames } };
      if (command === 'Page.createIsolatedWorld') return { executionContextId: 1 };
      // No snapshot can be taken: the text of a document that is there is then what a script reads of it.
      if (command !== 'Runtime.evaluate' || reads > 2) throw new Error('no answer');
      reads += 1;
      return { result: { value: reads > 2 ? 'text' : { html: '', title: '', siteName: '', url: '' } } };
    };
    const { capture, draft, notes } = captureOf(landing);
    await (await documents.start(capture))(draft, { error: '', failure: null }, 1_000);
    assert.equal(draft.documents.length, 2);
    assert.deepEqual(notes, [note('text_part', { landing: 0, count: 1 })]);
  });

  it('are those of all frames up to a limit; of many with one address some are left out, which is not counted', () => {
    const frames = (address: (at: number) => string, count: number) =>
      Array.from({ length: count }, (_, at) => ({ url: address(at) }));
    const same = selectFrames(frames((at) => `http://a.example/?${at}`, 60));
    assert.deepEqual([same.frames.length, same.unlike], [40, 0]);
    const different = selectFrames(frames((at) => `http://a.example/${at}`, 60));
    assert.deepEqual([different.frames.length, different.unlike], [40, 20]);
  });
});

describe('the screenshots of a capture', () => {
  it('are missed where a tab was shown and has none', () => {
    const { capture, draft } = captureOf(silentTab(false));
    assert.deepEqual(watchLandings(capture, {}, true)(draft), [note('picture', { landing: 0 })]);
    draft.landings[0]!.screenshot = 'landing-0.jpeg';
    assert.deepEqual(watchLandings(capture, {}, true)(draft), []);
  });

  it('are not missed of a tab that closed itself, which is said instead', () => {
    const tab = silentTab(false);
    tab.page.isClosed = () => true;
    const { capture, draft } = captureOf(tab);
    assert.deepEqual(watchLandings(capture, {}, false)(draft), [note('closed', { landing: 0 })]);
  });
});
