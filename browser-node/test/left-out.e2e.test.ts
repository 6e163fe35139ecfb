import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { note } from '@adsweep/shared/capture/notes.ts';
import { CaptureWorld } from './support/capture-world.ts';

let world: CaptureWorld;
before(async () => {
  world = await CaptureWorld.start();
  const { site } = world;
  site.setPage('http://plain.example/', '<title>plain</title><h1>Plain</h1>');
  site.setPage(
    'http://busy.example/',
    '<h1>Busy</h1><script>onload = () => setTimeout(() => { for (;;); }, 300)</script>',
  );
  site.setPage(
    'http://around.example/',
    '<title>around</title><h1>Around</h1><iframe src="http://busy.example/"></iframe>',
  );
  site.setPage('http://closing.example/', '<h1>Gone</h1><script>onload = () => setTimeout(close, 300)</script>');
  site.setPage(
    'http://opener.example/',
    '<title>opener</title><h1>Opener</h1><script>open("http://closing.example/")</script>',
  );
  const open = '<script>for (let n = 0; n < 12; n++) open("http://plain.example/?" + n)</script>';
  site.setPage('http://many.example/', `<title>many</title><h1>Many</h1>${open}`);
});
after(() => world.close());

const notesOf = async (url: string) => {
  const captured = await world.capture(url);
  assert.equal(captured.failure, null);
  return { captured, notes: captured.outcome.capture.notes };
};

describe('a capture', () => {
  it('of an ordinary page lacks nothing', async () => {
    assert.deepEqual((await notesOf('http://plain.example/')).notes, []);
  });

  it('of a page that polls lacks nothing', async () => {
    const poll = "setInterval(() => fetch('/news?' + performance.now()), 200)";
    world.site.setPage('http://polling.example/', `<h1>News</h1><script>${poll}</script>`);
    assert.deepEqual((await notesOf('http://polling.example/')).notes, []);
  });

  it('of a page that stopped its load lacks nothing, and is not waited for', async () => {
    world.site.setRoute('http://stopped.example/never.png', () => undefined);
    world.site.setPage(
      'http://stopped.example/',
      '<title>Stopped</title><img src=never.png><script>setTimeout(() => stop(), 300)</script>',
    );
    const { captured, notes } = await notesOf('http://stopped.example/');
    assert.deepEqual([captured.landings[0]?.page_title, notes], ['Stopped', []]);
  });

  it('of a page that scrolls in an element, also of a closed shadow root, requests what comes into view, and has a note that its screenshot shows only what was in view', async () => {
    const seen = 'if (isIntersecting) fetch(`/seen`)';
    const content =
      '<main style="height:100vh;overflow:auto"><div style="height:3000px">Text</div><p id="end">End</p></main>';
    const roots = {
      page: `document.body.insertAdjacentHTML('beforeend', content); const root = document`,
      'closed-root': `const root = document.createElement('app-page').attachShadow({ mode: 'closed' }); root.innerHTML = content; document.body.append(root.host)`,
    };
    for (const [name, script] of Object.entries(roots)) {
      world.site.setPage(
        `http://${name}.example/`,
        `<!doctype html><title>app</title><body style="margin:0;overflow:hidden"><script>const content = '${content}'; ${script};
        new IntersectionObserver(([{ isIntersecting }]) => { ${seen} }).observe(root.getElementById('end'))</script>`,
      );
      const { captured } = await notesOf(`http://${name}.example/`);
      assert.ok(captured.urls().includes(`http://${name}.example/seen`), name);
      assert.equal(captured.notes, 'the screenshot of landing 0 shows only what was in view');
    }
  });

  it('of a page whose requests did not reach the gateway any more has a note of them, and is that page', async () => {
    const { site } = world;
    let stop = () => {};
    site.setPage('http://shop.example/', '<title>shop</title><h1>Shop</h1><script src="/last.js"></script>');
    site.setRoute('http://shop.example/last.js', (_, response) => {
      stop();
      response.setHeader('content-type', 'application/javascript');
      response.end("for (const n of [1, 2]) new Image().src = 'http://ads.example/' + n");
    });
    const captured = await world.capture('http://shop.example/', {
      opened: (_, proxy) => {
        stop = () => proxy.refuse();
      },
    });
    assert.equal(captured.failure, null);
    assert.deepEqual(captured.outcome.capture.notes, [note('gateway', { count: 2 })]);
  });

  it('of a page with a frame that keeps its thread busy has the texts of both, and a note that its scripts were stopped', async () => {
    const { captured, notes } = await notesOf('http://around.example/');
    assert.equal(captured.landings[0]?.page_title, 'around');
    assert.ok(captured.landings[0]?.screenshot);
    assert.deepEqual(
      captured
        .documents()
        .map(({ url }) => url)
        .toSorted(),
      ['http://around.example/', 'http://busy.example/'],
    );
    assert.deepEqual(notes, [note('stopped_busy')]);
  });

  it('of a page with more frames that show pictures than are kept has a note of the others, and of each whether it can be seen', async () => {
    const { site } = world;
    site.setText('http://frames.example/ad.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>');
    const picture = '<body style="margin:0"><img src="/ad.svg" width="300" height="250">';
    for (let n = 0; n < 33; n++) site.setPage(`http://frames.example/${n}`, picture);
    const frame = (n: number) => `<iframe src="http://frames.example/${n}" width="300" height="250"></iframe>`;
    const more = Array.from({ length: 32 }, (_, n) => frame(n + 1)).join('');
    const host = `<div id="host" style="opacity:0.01"></div><script>host.attachShadow({ mode: 'closed' }).innerHTML = '${frame(0)}'</script>`;
    site.setPage('http://framed.example/', `<title>framed</title><h1>Framed</h1>${host}${more}`);
    const { captured, notes } = await notesOf('http://framed.example/');
    const places = captured.observed('placement');
    assert.deepEqual(
      places.filter(({ facts }) => facts.opacity < 1).map(({ url }) => url),
      ['http://frames.example/0'],
    );
    assert.deepEqual([places.length, notes], [30, [note('observations', { count: 3, collector: 'placements' })]]);
  });

  it('stops no frame for messages that another one makes up, with its origin', async () => {
    const { site } = world;
    const work = 'setInterval(() => { const until = performance.now() + 40; while (performance.now() < until); }, 100)';
    site.setPage('http://working.example/', `<h1>Working</h1><script>${work}</script>`);
    const made = "new MessageEvent('message', { origin: 'http://working.example', source: parent })";
    const dispatch = `onload = () => setTimeout(() => { for (let n = 0; n < 6_000; n++) dispatchEvent(${made}) }, 200)`;
    site.setPage('http://accuser.example/', `<script>${dispatch}</script>`);
    const frames = ['working', 'accuser'].map((name) => `<iframe src="http://${name}.example/"></iframe>`);
    site.setPage('http://accused.example/', `<title>accused</title>${frames.join('')}`);
    assert.deepEqual((await notesOf('http://accused.example/')).notes, []);
  });

  it('has notes of windows that closed themselves before they were read', async () => {
    const { notes } = await notesOf('http://opener.example/');
    assert.deepEqual(notes, [note('closed', { landing: 1 })]);
  });

  it('has a note of the windows beyond the tenth', async () => {
    const { captured, notes } = await notesOf('http://many.example/');
    assert.equal(captured.landings.length, 10);
    assert.deepEqual(
      notes.filter(({ kind }) => kind === 'landings'),
      [note('landings', { count: 3 })],
    );
  });
});
