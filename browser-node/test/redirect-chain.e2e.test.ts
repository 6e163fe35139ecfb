import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CaptureWorld } from './support/capture-world.ts';

const html = (body: string) => `<!doctype html><title>step</title>${body}`;

describe('redirect chains', { concurrency: 4 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
  });
  after(() => world.close());

  it('the redirect chain of a capture holds 301, 302, 303, 307, 308, meta refresh, Refresh header, script, form and timer in order and agrees with the log', async () => {
    const { site } = world;
    const at = (step: string) => `http://chain-${step}.example/${step}`;
    const steps = [
      '301',
      '302',
      '303',
      '307',
      '308',
      'meta',
      'header',
      'assign',
      'replace',
      'get',
      'post',
      'click',
      'timer',
      'end',
    ];
    const next = (step: string) => at(steps[steps.indexOf(step) + 1] as string);
    for (const status of [301, 302, 303, 307, 308]) site.setRedirect(at(`${status}`), next(`${status}`), status);
    site.setPage(at('meta'), html(`<meta http-equiv=refresh content="0; url=${next('meta')}">`));
    site.setPage(at('header'), html('on'), { refresh: `0; url=${next('header')}` });
    site.setPage(at('assign'), html(`<script>location = '${next('assign')}'</script>`));
    site.setPage(at('replace'), html(`<script>location.replace('${next('replace')}')</script>`));
    const form = (step: string, method: string) =>
      `<form method=${method} action="${next(step)}"><input name=q value=1></form><script>document.forms[0].submit()</script>`;
    site.setPage(at('get'), html(form('get', 'get')));
    site.setPage(at('post'), html(form('post', 'post')));
    site.setPage(at('click'), html(`<a href="${next('click')}">on</a><script>document.links[0].click()</script>`));
    site.setPage(at('timer'), html(`<script>setTimeout(() => { location.href = '${next('timer')}' }, 700)</script>`));
    site.setPage(at('end'), html('arrived'));

    const captured = await world.capture(at('301'));

    const kinds = [
      'initial',
      'http',
      'http',
      'http',
      'http',
      'http',
      'meta_refresh',
      'refresh_header',
      'script',
      'script',
    ];
    const expected = [...kinds, 'form', 'form', 'anchor', 'script'];
    const query = (step: string) => (step === 'post' ? '?q=1' : '');
    assert.deepEqual(
      captured.steps(),
      steps.map((step, index) => `${expected[index]} ${at(step)}${query(step)}`),
    );
    const log = site.urls().filter((url) => url.startsWith('http://chain-') && !url.endsWith('/favicon.ico'));
    assert.deepEqual(
      captured.chain().map(({ url }) => url),
      log,
    );
    assert.deepEqual(
      captured.chain().map((hop) => hop.status_code),
      [301, 302, 303, 307, 308, ...Array(9).fill(200)],
    );
    assert.equal(captured.chain().at(-1)?.content_type, 'text/html; charset=utf-8');
    assert.equal(captured.chain().at(-1)?.body_size, html('arrived').length);
    assert.deepEqual(
      captured.chain().map((hop) => hop.redirected_from),
      ['', ...log.slice(0, -1)],
    );
    const times = captured.chain().map((hop) => hop.timestamp_ms);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.equal(captured.landings[0]?.final_url, at('end'));
    assert.equal(captured.failure, null);
  });

  it('the redirect chain of a capture contains a navigation by a timer of any form, and no other timer is waited for', async () => {
    const { site } = world;
    site.setPage('http://late.example/', html('late'));
    const timers: [string, string[]][] = [
      [
        'const go = () => location.assign("http://late.example/"); setTimeout(go, 4000)',
        ['script http://late.example/'],
      ],
      [
        'let left = 4; setInterval(() => { if (--left === 0) location.href = "http://late.example/" }, 1000)',
        ['script http://late.example/'],
      ],
      ['const pretty = () => (document.title = "later"); setTimeout(() => pretty(location.href), 4000)', []],
    ];
    const seen = await Promise.all(
      timers.map(async ([script], index) => {
        const url = `http://timer-${index}.example/`;
        site.setPage(url, html(`<script>${script}</script>`));
        return (await world.capture(url)).steps().slice(1);
      }),
    );
    assert.deepEqual(
      seen,
      timers.map(([, expected]) => expected),
    );
  });

  it('the redirect chain of a capture distinguishes a step back in the history from a link', async () => {
    const { site } = world;
    site.setPage(
      'http://history.example/a',
      html(`<script>
      onload = () => setTimeout(() => { if (!sessionStorage.been) { sessionStorage.been = 1; location = '/b' } }, 50)</script>`),
    );
    site.setPage(
      'http://history.example/b',
      html('<script>onload = () => setTimeout(() => history.back(), 50)</script>'),
    );
    const captured = await world.capture('http://history.example/a');
    assert.deepEqual(captured.steps(), [
      'initial http://history.example/a',
      'script http://history.example/b',
      'history http://history.example/a',
    ]);
  });

  it('the redirect chain of a capture continues over https and on other sites', async () => {
    const { site } = world;
    site.setRedirect('http://over.example/', 'https://over.example/tls');
    site.setPage('https://over.example/tls', html('<script>location = "http://elsewhere.example/"</script>'));
    site.setPage('http://elsewhere.example/', html('there'));
    const captured = await world.capture('http://over.example/');
    assert.deepEqual(captured.steps(), [
      'initial http://over.example/',
      'http https://over.example/tls',
      'script http://elsewhere.example/',
    ]);
  });

  it('the redirect chain of a capture contains a refresh that the page announced', async () => {
    const { site } = world;
    site.setPage('http://announced.example/', html('<meta http-equiv=refresh content="3; url=/later">'));
    site.setPage('http://announced.example/later', html('later'));
    const captured = await world.capture('http://announced.example/');
    assert.deepEqual(captured.steps(), [
      'initial http://announced.example/',
      'meta_refresh http://announced.example/later',
    ]);
  });

  it('the redirect chain of a capture contains the apps that a page opens, each once, and the page after them', async () => {
    const { site } = world;
    const intent = 'intent://shop#Intent;package=shop;end';
    const script = `setInterval(() => { location = '${intent}' }, 200); setTimeout(() => { location = '/store' }, 1400)`;
    site.setPage('http://deep-link.example/', html(`shop<script>${script}</script>`));
    site.setPage(
      'http://deep-link.example/store',
      html('<meta http-equiv=refresh content="1; url=market://details?id=shop">'),
    );
    const captured = await world.capture('http://deep-link.example/', { emulator: 'android_phone_pixel_8' });
    assert.deepEqual(captured.steps(), [
      'initial http://deep-link.example/',
      `script ${intent}`,
      'script http://deep-link.example/store',
      'meta_refresh market://details?id=shop',
    ]);
    assert.equal(captured.landings[0]?.final_url, 'http://deep-link.example/store');
    assert.deepEqual([captured.failure, captured.notes], [null, '']);
  });

  it('the redirect chain of a capture contains the apps that a page opens to which an ad navigated its own page', async () => {
    const { site } = world;
    site.setPage('http://app-page.example/', html("shop<script>location = 'market://details?id=shop'</script>"));
    const tag = "<script>location = 'http://app-page.example/'</script><b>an ad</b>";
    const captured = await world.capture(tag, { kind: 'ad_tag', emulator: 'android_phone_pixel_8' });
    assert.deepEqual(captured.steps(), ['initial http://app-page.example/', 'script market://details?id=shop']);
  });

  it('the page at the end of a slow redirect chain is looked at as a visitor does', async () => {
    const { site } = world;
    const pages = [1, 2, 3, 4].map((step) => `http://slow-${step}.example/`);
    for (const [at, url] of pages.entries()) {
      const next = pages[at + 1];
      const script = next
        ? `setTimeout(() => { location = '${next}' }, 1300)`
        : "addEventListener('mousemove', () => fetch('/moved'), { once: true })";
      site.setPage(url, html(`a step<script>${script}</script>`));
    }
    const captured = await world.capture(pages[0] as string);
    assert.equal(captured.steps().length, pages.length);
    assert.ok(captured.urls().includes(`${pages.at(-1)}moved`));
  });

  it('the redirect chain of a capture does not contain fragments, history entries and navigations of frames', async () => {
    const { site } = world;
    site.setPage(
      'http://still.example/',
      html(`<iframe src=/frame></iframe><script>
      location.hash = 'x'; history.pushState(0, '', '/pushed'); history.replaceState(0, '', '/replaced')</script>`),
    );
    site.setPage('http://still.example/frame', html('<script>location = "/frame2"</script>'));
    site.setPage('http://still.example/frame2', html('framed'));
    const captured = await world.capture('http://still.example/');
    assert.deepEqual(captured.steps(), ['initial http://still.example/']);
    assert.equal(captured.landings[0]?.final_url, 'http://still.example/replaced');
  });

  it('§4.2.14 a capture sends the unchanged referrer with the page request, and to other servers only what the policy of the page allows', async () => {
    const { site } = world;
    site.setRedirect('http://referred.example/', 'http://referred-on.example/');
    site.setPage(
      'http://referred-on.example/',
      html('<img src=http://third.example/p.png><script>document.title = document.referrer</script>'),
    );
    const referrer = 'https://publisher.example/article?id=7';
    const captured = await world.capture('http://referred.example/', { referrer });
    const refererOf = (url: string) => site.arrivals.find((arrival) => arrival.url === url)?.headers.referer;
    assert.equal(refererOf('http://referred.example/'), referrer);
    assert.equal(refererOf('http://third.example/p.png'), 'http://referred-on.example/');
    assert.equal(captured.landings[0]?.page_title, referrer);
  });
});
