import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sharp from 'sharp';
import { type Captured, CaptureWorld } from './support/capture-world.ts';

describe('landings', { concurrency: 4 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
  });
  after(() => world.close());

  it('the landings of a capture are the page and the tabs that it opened, each with its own redirect chain', async () => {
    const { site } = world;
    const opener = 'http://opener.example/';
    site.setPage(
      opener,
      `<title>opener</title><script>open('http://first.example/'); open('http://second.example/', '_blank', 'noopener')</script>`,
    );
    site.setRedirect('http://first.example/', '/on');
    site.setPage('http://first.example/on', '<script>location = "/offer"</script>');
    site.setPage('http://first.example/offer', '<title>Offer</title><body style="background: red">an offer');
    site.setPage('http://second.example/', '<title>Second</title>second');
    const captured = await world.capture(opener);
    const [own, first, second] = captured.landings;
    assert.deepEqual(
      captured.landings.map(({ ord }) => ord),
      [0, 1, 2],
    );
    assert.deepEqual([own?.page_title, first?.page_title, second?.page_title], ['opener', 'Offer', 'Second']);
    assert.equal(first?.final_url, 'http://first.example/offer');
    assert.equal(first?.opener_url, opener);
    assert.deepEqual(captured.steps(0), [`initial ${opener}`]);
    assert.deepEqual(captured.steps(1), [
      'initial http://first.example/',
      'http http://first.example/on',
      'script http://first.example/offer',
    ]);
    assert.deepEqual(captured.steps(2), ['initial http://second.example/']);
    assert.deepEqual(
      captured.outcome.files.filter(({ contentType }) => contentType === 'image/jpeg').map(({ name }) => name),
      ['landing-0.jpeg', 'landing-1.jpeg', 'landing-2.jpeg'],
    );
    const offer = captured.requests.find(({ url }) => url === 'http://first.example/offer');
    assert.deepEqual([offer?.landing, offer?.hop], [1, 2]);
  });

  it('the landings of a capture include a window whose server takes seconds to answer; one that gets no answer is noted', async () => {
    const { site } = world;
    for (const name of ['late', 'never'])
      site.setPage(
        `http://opens-${name}.example/`,
        `<title>opener</title><script>open('http://${name}.example/')</script>`,
      );
    site.setRoute('http://late.example/', (_, response) => {
      const page = '<title>Late</title>an offer';
      setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(page), 7_000);
    });
    site.setRoute('http://never.example/', () => undefined);
    const [late, never] = await Promise.all([
      world.capture('http://opens-late.example/'),
      world.capture('http://opens-never.example/'),
    ]);
    assert.deepEqual(
      late.landings.map(({ page_title, screenshot }) => [page_title, screenshot !== null]),
      [
        ['opener', true],
        ['Late', true],
      ],
    );
    assert.equal(late.notes, '');
    assert.deepEqual(
      never.landings.map(({ page_title }) => page_title),
      ['opener'],
    );
    assert.match(never.notes, /1 further window opened/);
  });

  it('the landings of a capture include windows whose document is what the script in their URL returns or writes', async () => {
    const { site } = world;
    const ways: Record<string, string> = {
      returned: `open("javascript:'<title>returned</title><h1>An offer</h1>'")`,
      written: `open("javascript:document.write('<title>written</title><h1>An offer</h1>')")`,
    };
    await Promise.all(
      Object.entries(ways).map(async ([way, script]) => {
        site.setPage(`http://${way}.example/`, `<title>opener</title><script>${script}</script>`);
        const captured = await world.capture(`http://${way}.example/`);
        const { page_title, final_url, screenshot } = captured.landings[1] ?? {};
        assert.deepEqual(
          [page_title, final_url, screenshot, captured.notes],
          [way, 'about:blank', 'landing-1.jpeg', ''],
        );
      }),
    );
  });

  it('the landings of a capture are not waited for where only a picture is missing', async () => {
    const { site } = world;
    site.setRoute('http://hung.example/never.png', () => undefined);
    site.setPage(
      'http://hung.example/',
      `<title>Hung</title>text<img src=never.png>
      <script>addEventListener('mousemove', () => { document.title = 'Looked at' }, { once: true })</script>`,
    );
    const hung = await world.capture('http://hung.example/');
    assert.deepEqual([hung.landings[0]?.page_title, hung.notes], ['Looked at', '']);
  });

  it('a window that a page opens when it is scrolled far down is a landing, and where the page goes then is one', async () => {
    const { site } = world;
    const lazy = '<img loading=lazy src="/lazy.png"><div style="height:6000px">Text</div>';
    const onScroll = (act: string) =>
      `<script>let times = 0; addEventListener('scroll', () => { if (scrollY > 1500 && !times++) ${act} })</script>`;
    site.setPage('http://pops.example/', `<title>pops</title>${lazy}${onScroll("open('http://popped.example/')")}`);
    site.setPage('http://popped.example/', '<title>popped</title>an offer');
    site.setPage('http://goes.example/', `<title>goes</title>${lazy}${onScroll("location = 'http://gone.example/'")}`);
    site.setPage('http://gone.example/', '<title>gone</title>an offer');
    const [pops, goes] = await Promise.all(['pops', 'goes'].map((name) => world.capture(`http://${name}.example/`)));
    const [window] = pops?.observed('popups') ?? [];
    assert.deepEqual([window?.facts.without_gesture, window?.facts.urls], [1, ['http://popped.example/']]);
    const titles = (captured?: Captured) => captured?.landings.map(({ page_title }) => page_title);
    assert.deepEqual([titles(pops), pops?.notes], [['pops', 'popped'], '']);
    assert.ok(pops?.file('landing-1.jpeg'));
    assert.deepEqual(goes?.observed('auto_redirect')[0]?.facts.to, 'http://gone.example/');
    assert.deepEqual([titles(goes), goes?.documents().map(({ text }) => text)], [['gone'], ['an offer']]);
    assert.deepEqual(goes?.steps(), ['initial http://goes.example/', 'script http://gone.example/']);
  });

  it('the text that a page loads when it is scrolled far down is in its documents, as in its screenshot', async () => {
    const { site } = world;
    const load = "fetch('/more').then((more) => more.text()).then((more) => { end.textContent = more })";
    site.setPage(
      'http://later.example/',
      `<img loading=lazy src="/lazy.png"><div style="height:4000px">Text</div><p id="end">...</p><iframe loading=lazy src="/frame"></iframe>
      <script>new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && ${load}).observe(end)</script>`,
    );
    site.setText('http://later.example/more', 'text/plain', 'Loaded late');
    site.setPage('http://later.example/frame', 'Framed late');
    const texts = (await world.capture('http://later.example/')).documents().map(({ text }) => text);
    assert.match(texts[0] ?? '', /Loaded late/);
    assert.deepEqual(texts.slice(1), ['Framed late']);
  });

  it('the landings of a capture have full-page screenshots with lazy content', async () => {
    const { site } = world;
    site.setPage(
      'http://long.example/',
      `<!doctype html><style>body{margin:0}</style><div style="height:5000px;background:linear-gradient(red,blue)"></div>
      <img loading=lazy src=/lazy.png width=10 height=10><div style="height:1000px"></div>`,
    );
    const captured = await world.capture('http://long.example/');
    const picture = captured.file('landing-0.jpeg');
    assert.equal(picture?.width, 1366);
    assert.ok(picture && picture.height >= 6_010 && picture.height < 6_050, `${picture?.height}`);
    assert.ok(captured.urls().includes('http://long.example/lazy.png'));
  });

  it('the landings of a capture have screenshots of what fades in, or is drawn at all, when it comes into view', async () => {
    const green = 'body, p { margin: 0 } p { height: 900px; background: #080 }';
    const fades = `p { opacity: 0; transition: opacity .5s }</style><p><p><p><p><script>
      const seen = new IntersectionObserver((all) => { for (const one of all) if (one.isIntersecting) one.target.style.opacity = 1 });
      for (const one of document.querySelectorAll('p')) seen.observe(one)</script>`;
    const skipped = 'div { content-visibility: auto; contain-intrinsic-size: auto 900px }</style>';
    world.site.setPage('http://fading.example/', `<!doctype html><style>${green} ${fades}`);
    world.site.setPage(
      'http://skipped.example/',
      `<!doctype html><style>${green} ${skipped}${'<div><p></div>'.repeat(5)}`,
    );
    for (const url of ['http://fading.example/', 'http://skipped.example/']) {
      const picture = (await world.capture(url)).file('landing-0.jpeg');
      const { channels } = await sharp(picture?.bytes).stats();
      assert.ok(channels[0]!.max < 20, `${url} is green from top to bottom: ${channels[0]!.max} of red`);
    }
  });

  it('the landings of a capture have screenshots up to the maximum size of a WebP image', async () => {
    const { site } = world;
    site.setPage(
      'http://endless.example/',
      '<body style="margin:0"><div style="height:40000px;background:green"></div>',
    );
    const captured = await world.capture('http://endless.example/');
    const picture = captured.file('landing-0.jpeg');
    assert.deepEqual([picture?.width, picture?.height], [1366, 16_383]);
  });

  it('the landings of a capture have screenshots in device pixels', async () => {
    const { site } = world;
    site.setPage(
      'http://phone.example/',
      '<meta name=viewport content="width=device-width"><body style="margin:0;height:1000px">',
    );
    const captured = await world.capture('http://phone.example/', { emulator: 'iphone_15' });
    const picture = captured.file('landing-0.jpeg');
    assert.deepEqual([picture?.width, picture?.height], [393 * 3, 1_000 * 3]);
  });

  it('the landings of a capture have screenshots that the page does not notice and that grant it no user activation', async () => {
    const { site } = world;
    site.setPage(
      'http://untouched.example/',
      `<script>addEventListener('pagehide', () => navigator.sendBeacon('/left?' + navigator.userActivation.hasBeenActive))</script>`,
    );
    const captured = await world.capture('http://untouched.example/');
    assert.ok(captured.file('landing-0.jpeg'));
    assert.ok(captured.urls().includes('http://untouched.example/left?false'), captured.urls().join('\n'));
  });

  it('pages that move, their frames and the windows that they open get more than an animation frame a second', async () => {
    const { site } = world;
    // At four frames, and then one a second, this takes longer than a page is watched.
    const moving = `<div id=ball style="position:absolute">o</div><script>
      let frames = 0;
      const next = () => {
        ball.style.left = ++frames + 'px';
        if (frames === 25) fetch('/many-frames');
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);</script>`;
    site.setPage('http://opened.moving.example/', moving);
    site.setPage(
      'http://moving.example/',
      `${moving}<iframe src="http://framed.moving-frame.example/"></iframe>
      <script>
        open('http://opened.moving.example/');
        open('http://placed.moving.example/', 'a', 'left=40,top=30,width=400,height=300');
        open('http://aside.moving.example/', 'b', 'left=9999,top=9999,width=100,height=100');
        open('http://moved.moving.example/', 'c', 'left=10,top=10,width=300,height=200').moveTo(700, 500);
      </script>`,
    );
    site.setPage('http://framed.moving-frame.example/', moving);
    for (const name of ['placed', 'aside', 'moved']) site.setPage(`http://${name}.moving.example/`, moving);
    const captured = await world.capture('http://moving.example/');
    const animated = captured.urls().filter((url) => url.endsWith('/many-frames'));
    assert.deepEqual(animated.map((url) => new URL(url).hostname).toSorted(), [
      'aside.moving.example',
      'framed.moving-frame.example',
      'moved.moving.example',
      'moving.example',
      'opened.moving.example',
      'placed.moving.example',
    ]);
  });

  it('the landings of a capture have titles without control characters and lone surrogates', async () => {
    const { site } = world;
    site.setPage('http://titled.example/', `<script>document.title = 'a\\0b\\u0007c\\ud800d'</script>`);
    site.setRoute('http://latin.example/', (_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        .end(Buffer.from('<title>caf\xe9 \xff\0</title>', 'latin1'));
    });
    const [titled, latin] = await Promise.all([
      world.capture('http://titled.example/'),
      world.capture('http://latin.example/'),
    ]);
    assert.equal(titled.landings[0]?.page_title, 'a b c\ufffdd');
    assert.match(latin.landings[0]?.page_title ?? '', /^caf\ufffd \ufffd/);
  });

  it('the landings of a capture include pop-unders, and the page that a tab-under left behind', async () => {
    const { site } = world;
    const [under, again] = ['http://pop-under.example/', 'http://tab-under.example/'];
    site.setPage(under, `<title>page</title><script>open('http://behind.example/').blur(); focus()</script>`);
    site.setRedirect('http://behind.example/', '/offer');
    site.setPage('http://behind.example/offer', '<title>Behind</title>an offer');
    site.setPage(
      again,
      `<title>page</title><script>if (!location.search) { open('?again'); location = 'http://instead.example/' }</script>`,
    );
    site.setPage('http://instead.example/', '<title>Instead</title>an offer');
    const [popUnder, tabUnder] = await Promise.all([world.capture(under), world.capture(again)]);
    const told = ({ landings }: typeof popUnder) =>
      landings.map(({ ord, page_title, screenshot }) => [ord, page_title, screenshot !== null]);
    assert.deepEqual(told(popUnder), [
      [0, 'page', true],
      [1, 'Behind', true],
    ]);
    assert.deepEqual(popUnder.steps(1), ['initial http://behind.example/', 'http http://behind.example/offer']);
    assert.deepEqual(told(tabUnder), [
      [0, 'Instead', true],
      [1, 'page', true],
    ]);
    assert.deepEqual(tabUnder.steps(0), [`initial ${again}`, 'script http://instead.example/']);
    assert.deepEqual(tabUnder.steps(1), [`initial ${again}?again`]);
  });

  it('the landings of a capture do not include the error page of a tab that failed to load', async () => {
    const { site } = world;
    site.setPage('http://half.example/', `<script>open('http://x.dns-fault.example/')</script>fine`);
    const captured = await world.capture('http://half.example/');
    assert.equal(captured.failure, null);
    assert.equal(captured.landings[1]?.screenshot, null);
    assert.deepEqual(captured.steps(1), ['initial http://x.dns-fault.example/']);
  });
});
