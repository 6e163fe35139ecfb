import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CaptureWorld } from './support/capture-world.ts';

const SCRIPT = 'application/javascript';
/** A service worker needs a secure context, and its script a valid certificate. */
const SECURE = '--ignore-certificate-errors';

describe('requests', { concurrency: 4 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start(SECURE);
  });
  after(() => world.close());

  it('the requests of a capture are those of all frames, workers, prefetches and beacons in the log of the server', async () => {
    const { site } = world;
    const own = 'https://busy.example';
    site.setPageFile(`${own}/`, 'busy');
    site.setText(
      `${own}/worker.js`,
      SCRIPT,
      `fetch('/by-worker'); importScripts('/imported.js'); new Worker('/nested.js')`,
    );
    site.setText(`${own}/imported.js`, SCRIPT, '');
    site.setText(`${own}/nested.js`, SCRIPT, `fetch('/by-nested')`);
    site.setText(`${own}/shared.js`, SCRIPT, `fetch('/by-shared')`);
    site.setText(`${own}/worklet.js`, SCRIPT, '');
    site.setPage(
      'https://ads.example/frame',
      `<script>fetch('/by-frame')</script><iframe src=https://inner.example/></iframe>`,
    );
    site.setPage('https://inner.example/', '<script src=/inner.js></script>');
    site.setText('https://inner.example/inner.js', SCRIPT, `fetch('/by-inner')`);

    const captured = await world.capture(`${own}/`);

    const hosts = /^https:\/\/(busy|ads|inner)\.example\//;
    const log = site.urls().filter((url) => hosts.test(url));
    const expected = ['by-worker', 'by-nested', 'by-shared', 'worklet.js', 'beacon', 'by-frame', 'by-inner', 'kept'];
    for (const path of expected)
      assert.ok(
        log.some((url) => url.endsWith(`/${path}`)),
        `${path} was asked for`,
      );
    assert.deepEqual(
      captured
        .urls()
        .filter((url) => hosts.test(url))
        .sort(),
      log.sort(),
    );
  });

  it('the requests of a capture do not include those that a policy or a failed preflight stopped before they were sent', async () => {
    const { site } = world;
    const api = 'https://api-asked.example';
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'x-asked' };
    const answer = (path: string, headers = {}, status = 200) =>
      site.setRoute(api + path, (_, response) => void response.writeHead(status, headers).end('{}'));
    answer('/granted', cors);
    answer('/refused', {}, 403);
    answer('/other-method', cors);
    answer('/beacon');
    answer('/unreadable');
    site.setPage(
      'https://asking.example/',
      `<script>
      const ask = (path, options) => fetch('${api}' + path, options).catch(() => 0);
      ask('/granted', { headers: { 'x-asked': '1' } });
      ask('/refused', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
      ask('/other-method', { method: 'DELETE' });
      ask('/unreadable');
      ask(':6667/port', { mode: 'no-cors' });
      navigator.sendBeacon('${api}/beacon', new Blob(['{}'], { type: 'application/json' }));
      new Worker(URL.createObjectURL(new Blob(["fetch('${api}/refused?by-worker', { headers: { 'x-asked': '1' } }).catch(() => 0)"])));
      for (const src of ['${api}/unreadable?orb', 'http://api-asked.example/mixed.js', 'https://unlisted.example/policy.js'])
        document.head.append(Object.assign(document.createElement('script'), { src }));
      new Image().src = 'https://user:secret@api-asked.example/credentials.gif';</script>`,
      {
        'content-security-policy': `script-src 'unsafe-inline' blob: https://api-asked.example http://api-asked.example`,
      },
    );
    const captured = await world.capture('https://asking.example/');
    const isOfPage = (url: string) => /^(blob:|https?:\/\/[^/]*(asking|api-asked|unlisted)\.example)/.test(url);
    const listed = (requests: { method: string; url: string }[]) =>
      requests.flatMap(({ method, url }) => (isOfPage(url) ? [`${method} ${url}`] : [])).sort();
    const log = listed(site.arrivals);
    assert.deepEqual(listed(captured.requests), log);
    for (const sent of [
      'OPTIONS /granted',
      'GET /granted',
      'OPTIONS /refused',
      'OPTIONS /other-method',
      'GET /unreadable?orb',
    ])
      assert.ok(log.includes(sent.replace('/', `${api}/`)), `${sent} of ${log.join(' ')}`);
  });

  it('the requests of a capture include those of a service worker', async () => {
    const { site } = world;
    site.setPage('https://serviced.example/', `<script>navigator.serviceWorker.register('/service.js')</script>`);
    site.setText(
      'https://serviced.example/service.js',
      SCRIPT,
      `fetch('/by-service'); oninstall = () => fetch('/at-install')`,
    );
    const captured = await world.capture('https://serviced.example/');
    for (const path of ['service.js', 'by-service', 'at-install'])
      assert.ok(captured.urls().includes(`https://serviced.example/${path}`), path);
  });

  it('the requests of a capture are those in the log of the server, also where a service worker makes them for its page', async () => {
    const { site } = world;
    const [page, worker] = ['https://passing.example/', 'https://passing.example/pass.js'];
    const load =
      "fetch('/data'); document.head.append(Object.assign(document.createElement('script'), { src: '/late.js' }))";
    site.setPage(
      page,
      `<script>navigator.serviceWorker.addEventListener('controllerchange', () => { ${load} });
      navigator.serviceWorker.register('/pass.js'); setTimeout(() => 0, 4900)</script>`,
    );
    site.setText(
      worker,
      SCRIPT,
      `oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(clients.claim());
      onfetch = (event) => event.respondWith(fetch(event.request))`,
    );
    site.setText(`${page}late.js`, SCRIPT, '0');
    const captured = await world.capture(page);
    const ofPage = (urls: string[]) => urls.filter((url) => url.startsWith(page) && !url.endsWith('.ico')).sort();
    assert.deepEqual(ofPage(captured.urls()), ofPage(site.urls()));
    const late = captured.requests.find(({ url }) => url === `${page}late.js`);
    assert.deepEqual([late?.resource_type, late?.landing], ['script', 0]);
  });

  it('the requests of a capture are those in the log of the server, also where a page has the next one fetched ahead', async () => {
    const { site } = world;
    for (const ahead of ['prefetch', 'prerender']) {
      const page = `https://${ahead}.example/`;
      const rules = `{ "${ahead}": [{ "urls": ["/next"], "eagerness": "immediate" }] }`;
      const leave = "setTimeout(() => { location.href = '/next' }, 1200)";
      site.setPage(page, `Text<script type="speculationrules">${rules}</script><script>${leave}</script>`);
      site.setRedirect(`${page}next`, `${page}offer`);
      site.setPage(`${page}offer`, 'An offer');
      const captured = await world.capture(page);
      const ofPage = (urls: string[]) => urls.filter((url) => url.startsWith(page) && !url.endsWith('.ico')).sort();
      assert.deepEqual(ofPage(captured.urls()), ofPage(site.urls()));
      assert.deepEqual(captured.steps(), [`initial ${page}`, `script ${page}next`, `http ${page}offer`]);
    }
  });

  it('the requests of a capture do not include those to http that the browser made to https by itself', async () => {
    const { site } = world;
    // All of .dev is on the list of hosts that browsers know to take https alone (RFC 6797, 12.3).
    site.setPage('http://upgraded.example/', '<img src="http://pixel.dev/1.gif">');
    site.setText('https://pixel.dev/1.gif', 'image/gif', '');
    const captured = await world.capture('http://upgraded.example/');
    const pixels = captured.requests.filter(({ url }) => url.includes('pixel.dev'));
    assert.deepEqual(
      pixels.map(({ url, status_code }) => [url, status_code]),
      [['https://pixel.dev/1.gif', 200]],
    );
  });

  it('the requests of a capture belong to the document that made them, not to an app or a response without content that it navigated to', async () => {
    const { site } = world;
    site.setPage('http://stays.example/none', '', {}, 204);
    site.setText('http://stays.example/worker.js', SCRIPT, `fetch('/by-worker')`);
    site.setPage(
      'http://stays.example/',
      `<script>setTimeout(() => { location = 'market://app' }, 100); setTimeout(() => { location = '/none' }, 300);
      setTimeout(() => { new WebSocket('ws://socket.example/'); new Worker('/worker.js') }, 800)</script>`,
    );
    const captured = await world.capture('http://stays.example/');
    assert.deepEqual(captured.chain().length, 3);
    const hopsOf = captured.requests.filter(({ resource_type }) => resource_type !== 'document');
    assert.deepEqual(hopsOf.map(({ url, landing, hop }) => [url, landing, hop]).toSorted(), [
      ['http://stays.example/by-worker', 0, 0],
      ['http://stays.example/worker.js', 0, 0],
      ['ws://socket.example/', 0, 0],
    ]);
  });

  it('the requests of a capture have their type, response, initiator and hop', async () => {
    const { site } = world;
    site.setPage('http://told.example/', `<script>fetch('/early').then(() => { location = '/second' })</script>`);
    site.setText('http://told.example/early', 'application/json', '{}');
    site.setPage('http://told.example/second', '<script src=/a.js></script><img src=/gone.png>');
    site.setText('http://told.example/a.js', SCRIPT, `fetch('/data', { method: 'POST', body: 'x' })`);
    site.setText('http://told.example/data', 'text/plain; charset=utf-8', 'twelve bytes');
    const captured = await world.capture('http://told.example/');
    const of = (path: string) => {
      const found = captured.requests.find(({ url }) => url === `http://told.example/${path}`);
      assert.ok(found, path);
      return found;
    };
    assert.equal(of('early').hop, 0);
    assert.equal(of('second').hop, 1);
    assert.deepEqual([of('a.js').resource_type, of('a.js').hop, of('a.js').initiator], ['script', 1, of('second').id]);
    const data = of('data');
    assert.deepEqual(
      [
        data.method,
        data.resource_type,
        data.status_code,
        data.content_type,
        data.body_size,
        data.landing,
        data.hop,
        data.initiator,
      ],
      ['POST', 'fetch', 200, 'text/plain; charset=utf-8', 12, 0, 1, of('a.js').id],
    );
    assert.equal(of('gone.png').status_code, 404);
  });

  it('the requests of a capture include both ends of an HTTP redirect of a sub-resource', async () => {
    const { site } = world;
    site.setPage('http://pixel.example/', '<img src=http://sync.example/1>');
    site.setRedirect('http://sync.example/1', 'http://sync.example/2');
    site.setText('http://sync.example/2', 'image/gif', '');
    const captured = await world.capture('http://pixel.example/');
    const syncs = captured.requests.filter(({ url }) => url.startsWith('http://sync.example/'));
    assert.deepEqual(
      syncs.map(({ url, status_code }) => [url, status_code]),
      [
        ['http://sync.example/1', 302],
        ['http://sync.example/2', 200],
      ],
    );
  });

  it('the requests of a capture include the beacons that a page and its frames send on unload', async () => {
    const { site } = world;
    const beacon = (to: string) => `<script>addEventListener('pagehide', () => navigator.sendBeacon('${to}'))</script>`;
    site.setPage(
      'http://leaving.example/',
      `${beacon('/first')}<script>onload = () => { location = '/last' }</script>`,
    );
    site.setPage(
      'http://leaving.example/last',
      `${beacon('/second')}<iframe src=http://leaving-frame.example/></iframe>`,
    );
    site.setPage('http://leaving-frame.example/', beacon('/third'));
    const paths = ['leaving.example/first', 'leaving.example/second', 'leaving-frame.example/third'];
    const beacons = paths.map((path) => `http://${path}`);
    const captured = await world.capture('http://leaving.example/');
    const recorded = (url: string) => captured.urls().filter((one) => one === url).length;
    const arrived = (url: string) => site.arrivals.filter((arrival) => arrival.url === url).length;
    for (const url of beacons) assert.equal(recorded(url), arrived(url), `${url}, ${captured.notes}`);
    // The first beacon is from a page that navigates by itself: on a busy machine Chromium may drop it.
    for (const url of beacons.slice(1)) assert.equal(recorded(url), 1, `${url}, ${captured.notes}`);
  });

  it('the requests of a capture include a host that only the gateway saw', async () => {
    const { site } = world;
    site.setPage(
      'https://last.example/',
      `<script>addEventListener('pagehide', () => navigator.sendBeacon('https://only.example/x'))</script>`,
    );
    const captured = await world.capture('https://last.example/');
    assert.ok(
      captured.urls().some((url) => url.startsWith('https://only.example')),
      captured.urls().join(' '),
    );
  });
});

describe('requests of a flooding page', () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
  });
  after(() => world.close());

  it('the requests of a flooding page do not include a thousand impossible host names, and a note gives their number', async () => {
    const { site } = world;
    // Names of 14,000 characters are more than a renderer may hold on a busy machine, which ends it: that is another question.
    site.setPage(
      'http://long-names.example/',
      `<script>
      const label = 'a'.repeat(60) + '.';
      for (let i = 0; i < 1000; i++) fetch('http://' + label.repeat(60) + i + '.example/', { mode: 'no-cors' }).catch(() => 0)</script>`,
    );
    const captured = await world.capture('http://long-names.example/');
    assert.equal(captured.failure, null);
    assert.ok(Buffer.byteLength(JSON.stringify(captured.outcome.capture)) < 100_000);
    assert.match(captured.notes, /\d+ further requests were not recorded/);
  });

  it('the requests of a flooding page are at most 5000, include those of another site after a flood, and a note gives the number of further ones', async () => {
    const { site } = world;
    site.setPage(
      'http://smokescreen.example/',
      `<script>
      for (let i = 0; i < 5500; i++) navigator.sendBeacon('/b?' + i) || fetch('/f?' + i, { mode: 'no-cors' }).catch(() => 0);
      const behind = document.createElement('script');
      behind.src = 'http://behind.example/kit.js';
      document.head.append(behind);</script>`,
    );
    site.setText('http://behind.example/kit.js', SCRIPT, 'var kit = 1');
    const captured = await world.capture('http://smokescreen.example/');
    assert.equal(captured.failure, null);
    assert.equal(captured.requests.length, 5_000);
    assert.ok(captured.urls().includes('http://behind.example/kit.js'), captured.notes);
    assert.match(captured.notes, /\d+ further requests were not recorded/);
  });
});

describe('contents and documents', { concurrency: 4 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
  });
  after(() => world.close());

  it('the contents and documents of a capture are scripts, fetch and XHR responses and frames; of an oversized one, only the URL is kept', async () => {
    const { site } = world;
    site.setPage(
      'http://bodies.example/',
      `<script src=/a.js></script><script src=/big.js></script><img src=/p.png>
      <iframe src=http://ad.example/></iframe><script>
      fetch('/f.json'); const x = new XMLHttpRequest(); x.open('GET', '/x.txt'); x.send(); new Worker('/w.js')</script>`,
    );
    site.setText('http://bodies.example/a.js', SCRIPT, 'var a = "ä"');
    site.setText('http://bodies.example/big.js', SCRIPT, `/*${'x'.repeat(140_000)}*/`);
    site.setText('http://bodies.example/f.json', 'application/json', '{"f":1}');
    site.setText('http://bodies.example/x.txt', 'text/plain', 'x');
    site.setText('http://bodies.example/w.js', SCRIPT, `fetch('/wf')`);
    site.setText('http://bodies.example/wf', 'text/plain', 'from a worker');
    site.setPage('http://ad.example/', '<p>exploit kit</p><script>location = "/gone-on"</script>');
    site.setPage('http://ad.example/gone-on', '<p>harmless</p>');
    const captured = await world.capture('http://bodies.example/');
    const text = new Map(captured.bodies().map((body) => [body.url, body.text]));
    assert.equal(text.get('http://bodies.example/a.js'), 'var a = "ä"');
    assert.equal(text.get('http://bodies.example/f.json'), '{"f":1}');
    assert.equal(text.get('http://bodies.example/x.txt'), 'x');
    assert.equal(text.get('http://bodies.example/wf'), 'from a worker');
    assert.match(text.get('http://ad.example/') ?? '', /exploit kit/);
    assert.match(text.get('http://ad.example/gone-on') ?? '', /harmless/);
    assert.equal(text.get('http://bodies.example/big.js'), null);
    assert.equal(captured.bodies().find(({ url }) => url.endsWith('big.js'))?.bytes, 140_004);
    assert.ok(!text.has('http://bodies.example/p.png'));
    assert.ok(!text.has('http://bodies.example/'));
  });

  it('the contents and documents of a capture are at most 400 resources', async () => {
    const { site } = world;
    site.setPage('http://many.example/', `<script>for (let i = 0; i < 450; i++) fetch('/one?' + i)</script>`);
    site.setText('http://many.example/one', 'text/plain', 'one');
    const captured = await world.capture('http://many.example/');
    assert.equal(captured.bodies().length, 400);
  });

  it('the contents and documents of a capture are what the page and its frames show, whatever the scripts of the page replaced', async () => {
    const { site } = world;
    site.setPageFile('http://liar.example/', 'overridden');
    site.setPage('http://framed.example/', '<title>framed</title><p>in the frame</p>');
    const captured = await world.capture('http://liar.example/');
    const [own, ...frames] = captured.documents();
    assert.deepEqual(
      [own?.landing, own?.frame, own?.url, own?.title],
      [0, '', 'http://liar.example/', 'The true title'],
    );
    assert.match(own?.text ?? '', /what a visitor reads/);
    assert.doesNotMatch(own?.text ?? '', /hidden from view/);
    assert.match(own?.html ?? '', /hidden from view/);
    assert.deepEqual(
      frames.map(({ url, text }) => [url, text.trim()]),
      [['http://framed.example/', 'in the frame']],
    );
    assert.equal(captured.landings[0]?.page_title, 'The true title');
    assert.equal(captured.landings[0]?.site_name, 'True & Sons');
    assert.equal(captured.landings[0]?.screenshot, 'landing-0.jpeg');
    assert.equal(captured.failure, null);
  });
});
