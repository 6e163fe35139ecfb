import assert from 'node:assert/strict';
import { getPriority } from 'node:os';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../shared/test/support/until.ts';
import { processIds, processType } from '../src/browser/processes.ts';
import { CaptureWorld } from './support/capture-world.ts';

/** Maximum growth of the process while a page floods it; without bounds, it grows by more or ends. */
const GROWTH_MAX = 300_000_000;
const NEIGHBOURS = 3;

let world: CaptureWorld;
before(async () => {
  world = await CaptureWorld.start();
  world.site.setPage('http://plain.example/', '<title>plain</title>plain');
  await world.capture('http://plain.example/');
});
after(() => world.close());

const STOPPED = /requests without end/;
const inWorker = (code: string) => `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(code)}])))`;

/**
 * A few for each channel through which they reach us (`npm run bench hostile` has all); `isStopped`: whether
 * the page is stopped, because what it sends reaches us (absent: it depends on the machine);
 * `failure`: why it may fail: what the browser has not yet taken of a flood fills the memory of the page's process; `congests`: whether the
 * browser has to say for how long the flood left no time for other pages.
 */
const FLOODS: {
  channel: string;
  name: string;
  script: string;
  isStopped?: boolean;
  failure?: string;
  congests?: boolean;
}[] = [
  {
    channel: 'console',
    name: '400,000 debug lines',
    script: `for (let n = 0; n < 4e5; n++) console.debug(n); const other = console.context('other'); for (let n = 0; n < 4e5; n++) other.debug(n)`,
    isStopped: false,
  },
  { channel: 'console', name: 'debug lines of a worker without end', script: inWorker('for (;;) console.debug(1)') },
  {
    channel: 'errors',
    name: '100 errors of 2 MB, and rejections and errors of handlers without end',
    script: `for (let n = 0; n < 100; n++) setTimeout(() => { throw new Error('x'.repeat(2e6)) });
      const target = new EventTarget(); target.addEventListener('x', () => { throw 1 });
      const more = () => { for (let n = 0; n < 500; n++) { Promise.reject(n); target.dispatchEvent(new Event('x')) } setTimeout(more) }; more()`,
    isStopped: false,
  },
  {
    channel: 'network events',
    name: 'requests by scripts with source URLs of 1 MB',
    script: `const source = 'const f = (n) => n ? f(n - 1) : fetch("/s?" + Math.random()).catch(() => 0); f(100)\\n//# sourceURL=http://x.example/' + 'x'.repeat(1e6); for (let n = 0; n < 12; n++) eval(source)`,
    isStopped: true,
  },
  {
    channel: 'request headers',
    name: '40 requests of a worker with 30 MB each',
    script: inWorker(
      `const headers = { 'x-large': 'x'.repeat(3e7) }; for (let n = 0; n < 40; n++) fetch(self.origin + '/s?' + n, { headers }).catch(() => 0)`,
    ),
    failure: 'browser: OUT_OF_MEMORY',
  },
  {
    channel: 'network service',
    name: 'requests in one endless task',
    script: `for (;;) fetch('/s?' + Math.random()).catch(() => 0)`,
    failure: 'browser: OUT_OF_MEMORY',
    congests: true,
  },
];

/** Captures of the plain page beside another one have all that they have alone. */
function assertUndisturbed(innocents: readonly Awaited<ReturnType<CaptureWorld['capture']>>[]): void {
  for (const { failure, landings } of innocents)
    assert.deepEqual([failure, landings[0]?.page_title, landings[0]?.screenshot], [null, 'plain', 'landing-0.jpeg']);
}

/** The landing of a page that leaves the browser of its undisturbed neighbours, and is requested again in its own. */
async function captureThatLeaves(url: string) {
  const askedBefore = world.site.urls().length;
  const neighbours = Array.from({ length: NEIGHBOURS }, () => world.capture('http://plain.example/'));
  const [flood, ...innocents] = await Promise.all([world.attempt(url), ...neighbours]);
  assertUndisturbed(innocents);
  assert.equal(flood.failure, null, flood.failure?.cause);
  const asked = world.site.urls().slice(askedBefore);
  assert.equal(asked.filter((one) => one === url).length, 2);
  return flood.capture?.landings[0];
}

for (const [index, { channel, name, script, isStopped, failure, congests }] of FLOODS.entries())
  test(`three captures in the same browser complete beside a page that floods it, and the node's memory is bounded: ${channel}, ${name}`, async () => {
    const url = `http://flood-${index}.example/`;
    world.site.setPage(url, `<title>flood</title>shown<script>${script}</script>`);
    const before = process.memoryUsage.rss();
    let most = before;
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 50);
    let congestedMs: (at: number) => number = () => 0;
    const since = performance.now();
    const neighbours = Array.from({ length: NEIGHBOURS }, () => world.capture('http://plain.example/'));
    const flooding = world.capture(url, {
      opened: (open) => {
        congestedMs = open.congestedMs;
      },
    });
    const [flood, ...innocents] = await Promise.all([flooding, ...neighbours]);
    clearInterval(watching);
    assertUndisturbed(innocents);
    if (flood.failure !== failure) assert.equal(flood.failure, null, flood.outcome.failure?.cause);
    if (isStopped !== undefined) assert.equal(STOPPED.test(flood.notes), isStopped, flood.notes);
    assert.ok(most - before < GROWTH_MAX, `it grew by ${most - before} bytes`);
    if (congests) assert.ok(congestedMs(since) >= 300, `the others had no time for ${congestedMs(since)} ms`);
    assert.equal(congestedMs(performance.now()), 0);
  });

test('three captures in the same browser complete beside a page with 90 busy workers, which may leave it and is captured then', async () => {
  const url = 'http://busy-workers.example/';
  const workers = `for (let n = 0; n < 90; n++) ${inWorker('const until = Date.now() + 1e3; while (Date.now() < until);')}`;
  world.site.setPage(url, `<title>busy</title>shown<script>${workers}</script>`);
  const neighbours = Array.from({ length: NEIGHBOURS }, () => world.capture('http://plain.example/'));
  const [busy, ...innocents] = await Promise.all([world.attempt(url), ...neighbours]);
  assertUndisturbed(innocents);
  assert.equal(busy.failure, null, busy.failure?.cause);
  assert.deepEqual(
    busy.capture?.landings.map(({ page_title, screenshot }) => [page_title, screenshot]),
    [['busy', 'landing-0.jpeg']],
  );
});

test('a page that leaves the browser process no time is captured beside others, in a browser of its own', async () => {
  const url = 'https://locks.example/';
  const script = `let n = 0; setInterval(() => { for (let i = 0; i < 200 && n < 3e4; i++) navigator.locks.request('l' + n++, () => new Promise(() => 0)) }, 1)`;
  world.site.setPage(url, `<title>locks</title><body><p>shown</p><script>${script}</script>`);
  assert.equal((await captureThatLeaves(url))?.screenshot, 'landing-0.jpeg');
});

test('a page that starts workers endlessly is stopped and captured in its state then', async () => {
  const script = "const source = URL.createObjectURL(new Blob([''])); setInterval(() => new Worker(source), 10)";
  const url = 'http://children.example/';
  world.site.setPage(url, `<title>children</title><body><p>shown</p><script>${script}</script>`);
  const [flood, innocent] = await Promise.all([world.capture(url), world.attempt('http://plain.example/')]);
  assert.equal(flood.failure, null, flood.outcome.failure?.cause);
  assert.match(flood.notes, /started frames and workers without end/);
  assert.deepEqual(
    flood.observed('child_flood').map(({ landing }) => landing),
    [0],
  );
  assert.deepEqual([innocent.failure, innocent.capture?.landings[0]?.page_title], [null, 'plain']);
});

/** Where the frames of a page are from: the address of each, by number. */
const FRAMES_OF: Record<string, (n: number) => string> = {
  'hosts of another site': (n) => `http://f${n}.framed.example/`,
  'a thousand sites': (n) => `http://f.framed-${n}.example/`,
};

for (const [sites, at] of Object.entries(FRAMES_OF))
  test(`a page that starts a thousand frames of ${sites} at once is captured beside others, in a browser of its own`, async () => {
    const url = 'http://framing.example/';
    const [before, after] = at(0).split('0');
    const script = `for (let n = 0; n < 1e3; n++) document.body.append(Object.assign(document.createElement('iframe'), { src: '${before}' + n + '${after}' }))`;
    world.site.setPage(url, `<title>framing</title><body><p>shown</p><script>${script}</script>`);
    const landing = await captureThatLeaves(url);
    assert.deepEqual([landing?.page_title, landing?.screenshot], ['framing', 'landing-0.jpeg']);
  });

test('a request of a script with too long headers fails, and every other one is sent as the page made it', async () => {
  const origin = 'http://headers.example';
  const requests = `(async () => {
    const said = [];
    const ask = async (name, ...args) => {
      const outcome = await fetch(...args).then(({ status }) => status, ({ name, message }) => name + ': ' + message);
      said.push(name + ' ' + outcome);
    };
    const own = { 'x-own': 'yes' };
    const long = { 'x-long': 'x'.repeat(1e5) };
    let reads = 0;
    await ask('address', '${origin}/a');
    await ask('body', '${origin}/b', { method: 'POST', body: 'text', get headers() { reads += 1; return own; } });
    said.push('reads ' + reads);
    await ask('request', new Request('${origin}/c', { headers: own }));
    await ask('long', '${origin}/d', { headers: long });
    await ask('long request', new Request('${origin}/d', { headers: long }));
    await ask('invalid', '${origin}/e', { method: 'a b' });
    const called = (...headers) => new Promise((resolve) => {
      const xhr = new XMLHttpRequest();
      xhr.open('GET', '${origin}/opened-twice');
      xhr.setRequestHeader('x-lost', 'x'.repeat(1e5 - 10));
      xhr.open('GET', '${origin}/f');
      for (const [name, value] of headers) xhr.setRequestHeader(name, value);
      xhr.onloadend = () => resolve(xhr.status);
      xhr.send();
    });
    said.push('xhr ' + await called(['x-own', 'yes'], ['x-long', long['x-long']], ['x-own', 'too']));
    said.push(fetch.toString() + ' ' + fetch.length + ' ' + ('prototype' in fetch));
    return said;
  })()`;
  const native = 'function fetch() { [native code] } 1 false';
  const expected = [
    ...['address 200', 'body 200', 'reads 1', 'request 200'],
    ...['long TypeError: Failed to fetch', 'long request TypeError: Failed to fetch'],
    `invalid TypeError: Failed to execute 'fetch' on 'Window': 'a b' is not a valid HTTP method.`,
    ...['xhr 200', native],
  ];
  const arrived = { page: [] as string[], worker: [] as string[] };
  for (const where of ['page', 'worker'] as const) {
    world.site.arrivals.length = 0;
    for (const path of ['a', 'b', 'c', 'd', 'e', 'f', 'said'])
      world.site.setText(`${origin}/${path}`, 'text/plain', 'ok');
    const told = world.site.waitForRequest(`${origin}/said`);
    const tell = `${requests}.then((said) => fetch('${origin}/said?' + encodeURIComponent(JSON.stringify(said))))`;
    const script = where === 'page' ? tell : inWorker(tell);
    world.site.setPage(`${origin}/`, `<title>headers</title>shown<script>${script}</script>`);
    const { failure } = await world.capture(`${origin}/`);
    assert.equal(failure, null);
    const said = JSON.parse(decodeURIComponent(new URL((await told).url).search.slice(1)));
    const of = where === 'page' ? 'Window' : 'WorkerGlobalScope';
    assert.deepEqual(
      said,
      expected.map((line) => line.replace('Window', of)),
      where,
    );
    arrived[where] = world.site.arrivals
      .filter(({ url }) => /\/[a-f]$/.test(url))
      .map(({ method, url, headers }) => `${method} ${url} ${headers['x-own']} ${headers['content-length']}`);
  }
  const sent = ['GET /a undefined undefined', 'POST /b yes 4', 'GET /c yes undefined', 'GET /f yes, too undefined'];
  for (const where of ['page', 'worker'] as const)
    assert.deepEqual(
      arrived[where].map((line) => line.replace(origin, '')),
      sent,
      where,
    );
});

/** The process ids of drawing processes with the lowest priority. */
const lowestDrawing = (): string[] =>
  processIds().filter((pid) => processType(pid) === 'gpu-process' && priorityOf(pid) === 19);

/** null: the process has ended meanwhile. */
function priorityOf(pid: string): number | null {
  try {
    return getPriority(Number(pid));
  } catch {
    return null;
  }
}

test('a page of which one frame takes minutes to be drawn does not keep others from being drawn', async () => {
  const other = await CaptureWorld.start();
  const attempts: Promise<unknown>[] = [];
  const before = lowestDrawing();
  try {
    other.site.setPage('http://plain.example/', '<title>plain</title>plain');
    const style = 'div { filter: blur(90px); position: absolute; inset: 0; animation: a 1s infinite }';
    const frames = '@keyframes a { to { scale: 9 } }';
    other.site.setPage('http://blurred.example/', `<style>${style} ${frames}</style>${'<div>'.repeat(300)}`);
    attempts.push(other.attempt('http://blurred.example/'));
    const innocents = [0, 4_000].map((ms) => pause(ms).then(() => other.attempt('http://plain.example/')));
    attempts.push(...innocents);
    for (const { failure, capture } of await Promise.all(innocents))
      assert.deepEqual([failure, capture?.notes, capture?.landings[0]?.screenshot], [null, [], 'landing-0.jpeg']);
    await until('its own browser draws it last', () => lowestDrawing().some((pid) => !before.includes(pid)), 60);
  } finally {
    await other.close();
    await Promise.allSettled(attempts);
  }
});
