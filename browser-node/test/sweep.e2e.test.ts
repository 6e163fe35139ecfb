import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Discovery } from '@adsweep/shared/capture/ad-block.ts';
import {
  CREATIVE_HTML,
  CREATIVE_SCREENSHOT,
  landingScreenshot,
  PAGE_SCREENSHOT,
} from '@adsweep/shared/capture/artifacts.ts';
import sharp from 'sharp';
import type { Box } from '../src/capture/box.ts';
import { type Captured, CaptureWorld } from './support/capture-world.ts';
import { adUrl, BANNER_COLOUR, banner, colourIn, lateBanner, shadowing, slot } from './support/pages-with-ads.ts';

const PAGE = 'http://news.example/';

/** What a click on each ad does, by name, in the order of the page. */
const ADS: Record<string, string> = {
  cover: "open('http://shop-cover.example/')",
  plain: "open('http://shop-plain.example/')",
  last: "open('http://shop-last.example/')",
  beyond: "open('http://shop-beyond.example/')",
};

/** An ad that lies over the page until it is closed. */
const COVER = `<div id="cover" style="position:fixed;inset:0;background:#000a">
  <button aria-label="Close" style="position:absolute;right:10px;top:10px" onclick="fetch('/closed'); document.getElementById('cover').remove()">Close</button>
  <iframe src="${adUrl('cover')}" width="800" height="473" style="position:absolute;left:283px;top:80px;border:0"></iframe></div>`;

/** The colour in the middle of the picture of an ad. */
const middleColour = (ad: Captured): Promise<string> =>
  colourIn(sharp(ad.file(CREATIVE_SCREENSHOT)?.bytes), { x: 100, y: 100, width: 4, height: 4 });

/** What a capture of an ad lacks, and where its click led; and the same of an ad that lacks nothing and leads to its shop. */
const notesAndLandings = ({ notes, landings }: Captured) => [notes, ...landings.map(({ final_url }) => final_url)];
const toItsShop = (name: string) => ['', `http://shop-${name}.example/`];
/** What opens nothing on an ad; '' = all does, none: it was not checked. */
const inertParts = (ad: Captured) => ad.observed('creative_interactive').map(({ facts }) => facts.inert);

/** Each ad in a process of its own: what one does holds up no other. */
const hostileUrl = (name: string) => `http://ads-${name}.example/`;
/** What ads do to the page, at once and when they are clicked, besides leading to a shop. */
const HOSTILE: Record<string, { atOnce?: string; onClick?: string }> = {
  vanishes: {},
  spins: { atOnce: 'setTimeout(() => { for (;;); }, 4000)' },
  crashes: { atOnce: 'const all = []; for (;;) all.push({})' },
  navigates: { onClick: "setTimeout(() => { top.location.href = 'http://elsewhere.example/'; }, 300)" },
};

describe('sweeps', { concurrency: 1 }, () => {
  let world: CaptureWorld;
  before(async () => {
    // A script that fills this memory makes its renderer crash.
    world = await CaptureWorld.start('--ignore-certificate-errors', '--js-flags=--max-old-space-size=64');
    world.site.setPage(
      PAGE,
      `<title>News</title><h1>News</h1>${shadowing(
        Object.keys(ADS)
          .map((name) => (name === 'cover' ? COVER : slot(name)))
          .join(''),
      )}`,
    );
    world.site.setPage(`${PAGE}closed`, '');
    for (const [name, script] of Object.entries(ADS)) {
      world.site.setPage(adUrl(name), (name === 'last' ? lateBanner : banner)(name, script));
      world.site.setPage(`http://shop-${name}.example/`, `<title>Shop ${name}</title><h1>Buy ${name}</h1>`);
    }
  });
  after(() => world.close());

  it('§4.2.2 a sweep captures each ad of a page up to the cap, one after the other; one that lies over the page is closed then', async () => {
    const { page, blocks, ads } = await world.sweep(PAGE, { ad_formats: ['banner', 'video', 'pop'], max_ads: 3 });
    assert.equal(page.failure, null);
    assert.deepEqual(
      page.landings.map(({ page_title }) => page_title),
      ['News'],
    );
    assert.deepEqual(
      blocks.map(({ slot_index, ad_kind }) => [slot_index, ad_kind]),
      Object.keys(ADS).map((_, at) => [at, 'banner']),
    );
    assert.deepEqual(
      page.urls().filter((url) => url.includes('doubleclick')),
      [adUrl('beyond')],
      'what an ad requested is in its own scan, if it has one',
    );
    assert.deepEqual(
      ads.map(({ failure, landings }) => [failure, ...landings.map(({ final_url }) => final_url)]),
      ['cover', 'plain', 'last'].map((name) => [null, `http://shop-${name}.example/`]),
    );
    for (const [at, ad] of ads.entries()) {
      const name = Object.keys(ADS)[at] as string;
      for (const file of [CREATIVE_SCREENSHOT, PAGE_SCREENSHOT]) assert.ok(ad.file(file), `${name} has ${file}`);
      assert.match(Buffer.from(ad.file(CREATIVE_HTML)?.bytes ?? []).toString(), new RegExp(`Offer ${name}`));
      assert.ok(ad.urls().includes(adUrl(name)), `${name} has the requests of its frame`);
      assert.deepEqual(
        ad.urls().filter((url) => url.includes('doubleclick')),
        [adUrl(name)],
      );
      assert.equal(ad.outcome.capture.creative?.page_url, PAGE);
    }
    const picture = sharp(page.file(landingScreenshot(0))?.bytes);
    const colours = await Promise.all(blocks.map((block) => colourIn(picture, block)));
    assert.deepEqual(
      colours.slice(1, 3),
      [BANNER_COLOUR, BANNER_COLOUR],
      'ads of other sites are in the screenshot of their page',
    );
    assert.ok(!world.site.urls().includes('http://shop-beyond.example/'), 'an ad beyond the cap is not clicked');
    const steps = ['http://shop-cover.example/', `${PAGE}closed`, 'http://shop-plain.example/'];
    assert.deepEqual(
      world.site.urls().filter((url) => steps.includes(url)),
      steps,
    );
  });

  it('§4.2.2 on a device that is used with fingers, ads below the view are tapped, also one whose slot refreshes all the time, a consent wall lies over them, and the page changes its URL as it is read', async () => {
    const url = 'http://phone.example/';
    const names = ['plain', 'beyond'];
    const refresh = `setInterval(() => {
      const [slot] = document.querySelectorAll('[data-google-query-id] > div');
      slot.replaceWith(slot.cloneNode(true));
      const frame = document.querySelector('iframe');
      frame.removeAttribute('src');
      frame.contentDocument.write(${JSON.stringify(banner('plain', ADS.plain ?? '')).replaceAll('</', '<\\/')});
    }, 600)`;
    const slots = names.map((name) => slot(name)).join('<p style="height:2400px">');
    const parts = '<div style="height:100%">'.repeat(15);
    const wall = `<div style="position:fixed;inset:0;background:#000;z-index:9">${parts}We value your privacy</div>`;
    const nextArticle = "addEventListener('scroll', () => history.replaceState(null, '', '/' + Math.round(scrollY)))";
    world.site.setPage(url, `<title>News</title>${slots}${wall}<script>${refresh}; ${nextArticle}</script>`);
    const discovery: Discovery = { ad_formats: ['banner'], max_ads: 2 };
    const { ads } = await world.sweep(url, discovery, 'android_phone_pixel_8');
    assert.deepEqual(ads.map(notesAndLandings), names.map(toItsShop));
    assert.equal(world.site.urls().filter((asked) => asked === url).length, 1, 'the page is loaded once');
    assert.deepEqual(
      await Promise.all(ads.map(middleColour)),
      names.map(() => BANNER_COLOUR),
      'the consent wall over the page is not in the pictures of its ads',
    );
  });

  it('§4.2.2 on a page that scrolls in a fixed element, two ads that cover it together are captured before they are closed, and then those of the page', async () => {
    const url = 'http://app.example/';
    const names = ['left', 'right', 'plain', 'beyond'];
    const covering = (name: string, left: number) =>
      `<iframe src="${adUrl(name)}" width="300" height="250" style="position:absolute;left:${left}px;top:20px;border:0"></iframe>`;
    world.site.setPage(
      url,
      `<!doctype html><title>News</title><div id="app" style="position:fixed;inset:0;overflow:auto"><h1>News</h1><p>Text</p><p>Text</p>
      ${slot('plain')}<p style="height:1500px">Text</p>${slot('beyond')}
      <div id="cover" style="position:fixed;inset:0;background:#000a">${covering('left', 100)}${covering('right', 700)}
      <button aria-label="Close" style="position:absolute;right:10px;top:10px" onclick="fetch('/closed'); cover.remove()">x</button></div></div>`,
    );
    world.site.setPage(`${url}closed`, '');
    for (const name of ['left', 'right']) {
      world.site.setPage(adUrl(name), banner(name, `open('http://shop-${name}.example/')`));
      world.site.setPage(`http://shop-${name}.example/`, `<title>Shop ${name}</title>`);
    }
    const { page, ads } = await world.sweep(url, { ad_formats: ['banner'], max_ads: 4 });
    assert.deepEqual(ads.map(notesAndLandings), names.map(toItsShop));
    assert.deepEqual(
      await Promise.all(ads.map(middleColour)),
      names.map(() => BANNER_COLOUR),
    );
    assert.equal(world.site.urls().filter((asked) => asked === `${url}closed`).length, 1);
    assert.match(page.notes, /the screenshot of landing 0 shows only what was in view/);
  });

  it('§4.2.2 a consent wall hides neither an ad in the same shadow root nor one in a frame of its own site, and no click reaches it', async () => {
    const url = 'http://rooted.example/';
    const names = ['plain', 'beyond'];
    const frame = (name: string, style: string) =>
      `<iframe src="${adUrl(name)}" width="300" height="250" style="border:0;${style}"></iframe>`;
    const content = `${frame('plain', 'display:block')}<iframe src="/inner" width="900" height="700"></iframe>
      <div style="position:fixed;inset:0;background:#000;z-index:9">We value your privacy</div>`;
    world.site.setPage(
      url,
      `<title>News</title><div id="host"></div><script>host.attachShadow({ mode: 'closed' }).innerHTML = \`${content}\`</script>`,
    );
    world.site.setPage(`${url}inner`, `<p>Text</p>${frame('beyond', 'position:absolute;left:200px;top:300px')}`);
    const { ads } = await world.sweep(url, { ad_formats: ['banner'], max_ads: 2 });
    assert.deepEqual(ads.map(notesAndLandings), names.map(toItsShop));
    assert.deepEqual(ads.map(inertParts), [[''], ['']], 'the check of its parts clicks the ad and not the wall');
    assert.deepEqual(
      await Promise.all(ads.map(middleColour)),
      names.map(() => BANNER_COLOUR),
    );
  });

  it('§4.2.2 a consent wall that is a modal dialog, also in a shadow root or a frame, or has made the page inert, keeps no ad from being clicked, and is there again afterwards', async () => {
    const dialog = (id: string) => `<dialog id="${id}" style="width:90vw;height:90vh">We value your privacy</dialog>`;
    const walls = {
      modal: `${dialog('wall')}<script>wall.showModal()</script>`,
      rooted: `<div id="host"></div><script>const root = host.attachShadow({ mode: 'closed' });
        root.innerHTML = '${dialog('wall')}'; root.firstChild.showModal(); root.firstChild.onclose = () => fetch('/closed')</script>`,
      framed: `${dialog('wall')}<script>wall.showModal()</script>`,
      inert:
        '<div style="position:fixed;inset:0;background:#000">We value your privacy</div><script>main.inert = true</script>',
    };
    for (const [name, wall] of Object.entries(walls)) {
      const url = `http://${name}-wall.example/`;
      const closed =
        "<script>document.querySelector('dialog')?.addEventListener('close', () => fetch('/closed'))</script>";
      const page = `<!doctype html><title>News</title><div id="main"><h1>News</h1>${slot('plain')}</div>${wall}${closed}`;
      world.site.setPage(`${url}inner`, page);
      const around =
        '<!doctype html><title>News</title><body style="margin:0"><iframe src="/inner" style="border:0;display:block;width:100%;height:100vh"></iframe>';
      world.site.setPage(url, name === 'framed' ? around : page);
      const { ads } = await world.sweep(url, { ad_formats: ['banner'], max_ads: 1 });
      assert.deepEqual([...ads.map(notesAndLandings), ...ads.map(inertParts)], [toItsShop('plain'), ['']], name);
      assert.deepEqual(await Promise.all(ads.map(middleColour)), [BANNER_COLOUR]);
      const { data } = await sharp(ads[0]?.file(PAGE_SCREENSHOT)?.bytes)
        .extract({ left: 683, top: 500, width: 1, height: 1 })
        .raw()
        .toBuffer({ resolveWithObject: true });
      assert.deepEqual(name === 'inert' ? data[0]! < 16 : data[0]! > 240, true, 'the page is shown with its wall');
      assert.ok(!world.site.urls().includes(`${url}closed`));
    }
  });

  it('§4.2.2 where a page navigates itself while an ad of it is clicked is no landing of the ad; where the ad navigates the page is one', async () => {
    const url = 'http://restless.example/';
    const leave = {
      script: "setTimeout(() => { location.href = 'http://elsewhere.example/' }, 100)",
      refresh: `document.head.insertAdjacentHTML('beforeend', '<meta http-equiv="refresh" content="0; url=http://elsewhere.example/">')`,
    };
    const framed = (name: string, script: string) => {
      world.site.setPage(adUrl(name), banner(name, script));
      return slot(name);
    };
    /** An ad in a document of its page's origin. */
    const friendly = (name: string, script: string) =>
      slot(name, 'about:blank').replace('src=', `srcdoc="${banner(name, script).replaceAll('"', '&quot;')}" data-src=`);
    const opens = (name: string, how: string) =>
      `parent.postMessage('${how}', '*'); setTimeout(() => open('http://shop-${name}.example/'), 600)`;
    const slots = {
      plain: framed('restless-plain', opens('plain', 'script')),
      last: framed('restless-last', opens('last', 'refresh')),
      beyond: friendly('restless-beyond', opens('beyond', 'script')),
      cover: friendly('restless-cover', "top.location = 'http://shop-cover.example/'"),
    };
    world.site.setPage('http://elsewhere.example/', '<title>Elsewhere</title>');
    const listen = `onmessage = ({ data }) => { ${Object.entries(leave)
      .map(([how, script]) => `if (data === '${how}') { ${script} }`)
      .join(' else ')} }`;
    world.site.setPage(
      url,
      `<!doctype html><title>News</title><script>${listen}</script><h1>News</h1>${Object.values(slots).join('')}`,
    );
    const { ads } = await world.sweep(url, { ad_formats: ['banner'], max_ads: 4 });
    assert.deepEqual(ads.map(notesAndLandings), Object.keys(slots).map(toItsShop));
    assert.ok(!world.site.urls().includes('http://elsewhere.example/'));
    assert.equal(world.site.urls().filter((asked) => asked === url).length, 1, 'the page is loaded once');
  });

  it('§4.2.2 a form that a page sends and an app that it opens by itself while an ad of it is clicked are no landings of the ad; what the ad itself sends or opens in the place of the page is one', async () => {
    const url = 'http://sending.example/';
    const app = 'market://details?id=of.page';
    const send = (method: string, action: string) =>
      `const form = document.createElement('form'); Object.assign(form, { method: '${method}', action: '${action}' }); document.body.append(form); form.submit()`;
    const ofPage = {
      get: send('get', 'http://elsewhere.example/get'),
      post: send('post', 'http://elsewhere.example/post'),
      app: `location = '${app}'`,
      hidden: `const frame = document.createElement('iframe'); frame.hidden = true; document.body.append(frame); frame.src = '${app}'`,
    };
    const ofAd: Record<string, string> = {
      sends: send('get', 'http://shop-sends.example/').replace('document.body', "form.target = '_top'; document.body"),
      links: `const link = document.createElement('a'); Object.assign(link, { href: 'market://details?id=of.ad', target: '_top' }); document.body.append(link); link.click()`,
    };
    const landings: Record<string, string> = {
      sends: 'initial http://shop-sends.example/?',
      links: 'initial market://details?id=of.ad',
    };
    const clicks: Record<string, string> = { ...ofAd };
    for (const how of Object.keys(ofPage))
      clicks[how] = `parent.postMessage('${how}', '*'); setTimeout(() => open('http://shop-${how}.example/'), 600)`;
    for (const [name, click] of Object.entries(clicks)) {
      world.site.setPage(adUrl(`sending-${name}`), banner(name, click));
      world.site.setPage(`http://shop-${name}.example/`, `<title>Shop ${name}</title><h1>Buy ${name}</h1>`);
    }
    const listen = `onmessage = ({ data }) => setTimeout({ ${Object.entries(ofPage)
      .map(([how, script]) => `${how}: () => { ${script} }`)
      .join(', ')} }[data], 100)`;
    const slots = Object.keys(clicks).map((name) => slot(`sending-${name}`));
    world.site.setPage(
      url,
      `<!doctype html><title>News</title><h1>News</h1>${slots.join('')}<script>${listen}</script>`,
    );
    const { ads } = await world.sweep(url, { ad_formats: ['banner'], max_ads: 25 });
    assert.deepEqual(
      ads.map((ad) => [ad.notes, ...ad.landings.map(({ ord }) => ad.steps(ord))]),
      Object.keys(clicks).map((name) => ['', [landings[name] ?? `initial http://shop-${name}.example/`]]),
    );
    assert.ok(world.site.urls().every((asked) => !asked.includes('elsewhere.example/get')));
    assert.ok(world.site.urls().every((asked) => !asked.includes('elsewhere.example/post')));
    assert.equal(world.site.urls().filter((asked) => asked === url).length, 1, 'the page is loaded once');
  });

  it('§4.2.2 the ads of a page that is written from right to left and is wider than its view are pictured in their places', async () => {
    const url = 'http://rtl.example/';
    const wide = '<div style="width:2000px;height:20px"></div>';
    world.site.setPage(url, `<!doctype html><html dir="rtl"><title>News</title>${wide}${slot('plain')}`);
    const { page, blocks, ads } = await world.sweep(url, { ad_formats: ['banner'], max_ads: 1 });
    assert.deepEqual(
      [...ads.map(notesAndLandings), await middleColour(ads[0] as Captured)],
      [toItsShop('plain'), BANNER_COLOUR],
    );
    assert.equal(await colourIn(sharp(page.file(landingScreenshot(0))?.bytes), blocks[0] as Box), BANNER_COLOUR);
  });

  it('§4.2.5 a sweep neither lists nor pictures nor clicks the ads of a format that is left out', async () => {
    const before = world.site.urls().length;
    const { page, blocks, ads } = await world.sweep(PAGE, { ad_formats: ['pop'], max_ads: 2 });
    assert.deepEqual([page.failure, blocks, ads], [null, [], []]);
    assert.ok(
      world.site
        .urls()
        .slice(before)
        .every((url) => !url.includes('shop-')),
      'no ad was clicked',
    );
  });

  it('§4.2.2 a sweep of a page without an end says that ads further down may be missing, and one of a page with an end does not', async () => {
    const more = "addEventListener('scroll', () => { document.body.style.height = scrollY + 5000 + 'px' })";
    world.site.setPage(
      'http://endless.example/',
      `<title>News</title><body style="height:5000px">News<script>${more}</script>`,
    );
    world.site.setPage('http://long.example/', '<title>News</title><body style="height:5000px">News');
    const notesOf = async (url: string) => (await world.sweep(url, { ad_formats: ['pop'], max_ads: 1 })).page.notes;
    assert.match(
      await notesOf('http://endless.example/'),
      /not scrolled to its end so that ads further down may be missing/,
    );
    assert.equal(await notesOf('http://long.example/'), '');
  });

  it('§4.2.2 a page that is busy for some seconds when an ad of it is to be clicked is not loaded again', async () => {
    const url = 'http://busy.example/';
    world.site.setPage(url, `<!doctype html><title>News</title><h1>News</h1>${slot('plain')}`);
    const spin = 'const until = performance.now() + 8000; while (performance.now() < until);';
    const { ads } = await world.sweep(url, { ad_formats: ['banner'], max_ads: 1 }, undefined, async ({ context }) =>
      context.pages()[0]?.evaluate(`setTimeout(() => { ${spin} })`),
    );
    assert.deepEqual(ads.map(notesAndLandings), [toItsShop('plain')]);
    assert.equal(world.site.urls().filter((asked) => asked === url).length, 1);
  });

  it('§4.2.2 an ad that comes late on a page that had to be loaded again is captured', async () => {
    const url = 'http://again.example/';
    let loads = 0;
    world.site.setRoute(url, (_, response) => {
      loads += 1;
      // The second time that it is scrolled down.
      const late = `<script>let times = ${loads > 1 ? 0 : 1}, wasDown = false; addEventListener('scroll', () => {
        const isDown = scrollY > 1500;
        if (isDown && !wasDown && ++times === 2) document.getElementById('late').innerHTML = \`${slot('plain')}\`;
        wasDown = isDown;
      })</script>`;
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<!doctype html><title>News</title><h1>News</h1>${slot('beyond')}<div id="late"></div><p style="height:4000px">${late}`,
        );
    });
    const { ads } = await world.sweep(url, { ad_formats: ['banner'], max_ads: 2 }, undefined, async ({ context }) =>
      context.pages()[0]?.close(),
    );
    assert.deepEqual(ads.map(notesAndLandings), [toItsShop('beyond'), toItsShop('plain')]);
    assert.equal(loads, 2);
  });

  it('§4.2.2 hostile ads on a page neither end its sweep nor keep other ads from being captured', async () => {
    const url = 'http://hostile.example/';
    const names = ['first', ...Object.keys(HOSTILE), 'last'];
    // What its ad server's script takes away, once the first ad was clicked.
    const remove = `<script>onmessage = ({ data }) => data === 'clicked' && document.getElementById('div-gpt-ad-vanishes').remove()</script>`;
    world.site.setPage(
      url,
      `<title>News</title>${remove}<h1>News</h1>${names.map((name) => slot(name, hostileUrl(name))).join('')}`,
    );
    for (const name of names) {
      const { atOnce = '', onClick = '' } = HOSTILE[name] ?? {};
      const clicked = name === 'first' ? "top.postMessage('clicked', '*')" : onClick;
      world.site.setPage(
        hostileUrl(name),
        `${banner(name, `open('http://shop-${name}.example/'); ${clicked}`)}<script>${atOnce}</script>`,
      );
      world.site.setPage(`http://shop-${name}.example/`, `<title>Shop ${name}</title><h1>Buy ${name}</h1>`);
    }
    const { page, blocks, ads } = await world.sweep(url, { ad_formats: ['banner', 'video', 'pop'], max_ads: 25 });
    assert.equal(page.failure, null);
    assert.deepEqual(
      blocks.map(({ ad_kind, slot_index }) => [ad_kind, slot_index]),
      names.map((_, at) => ['banner', at]),
    );
    assert.deepEqual(
      ads.map(({ failure }, at) => [names[at], failure]),
      names.map((name) => [name, null]),
    );
    const firstLandings = ads.map(({ landings }) => landings[0]?.final_url ?? '');
    for (const name of ['first', 'navigates', 'last']) {
      const at = names.indexOf(name);
      const said = `${name}: landing "${firstLandings[at]}", notes: ${ads[at]?.notes}`;
      assert.equal(firstLandings[at], `http://shop-${name}.example/`, said);
    }
    for (const [at, name] of names.entries())
      assert.ok(
        ads[at]?.landings.every(({ final_url }) => !final_url.includes('shop-') || final_url.includes(name)),
        `${name} has no landing of another ad`,
      );
    for (const ad of ads) assert.ok(ad.file(CREATIVE_SCREENSHOT), 'each has its screenshot');
    assert.match(ads[names.indexOf('vanishes')]?.notes ?? '', /not on the page any more/);
  });
});
