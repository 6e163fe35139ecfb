import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PAGE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import { CaptureWorld } from './support/capture-world.ts';

describe('landings of a creative', { concurrency: 4 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
  });
  after(() => world.close());

  const banner = (click: string) =>
    `<div style="width:300px;height:250px;background:#cde;cursor:pointer" onclick="${click}">an ad</div>`;
  const captureTag = (tag: string, emulator?: string) =>
    world.capture(tag, { kind: 'ad_tag', referrer: 'http://publisher.example/', ...(emulator && { emulator }) });

  it('the landings of a creative are both tabs of a click that opens one and navigates the page behind it', async () => {
    const { site } = world;
    for (const name of ['front', 'behind']) {
      site.setRedirect(`http://click.example/${name}`, `http://${name}-offer.example/`);
      site.setPage(`http://${name}-offer.example/`, `<title>${name}</title>an offer`);
    }
    const later = "setTimeout(() => { top.location = 'http://click.example/behind' }, 500)";
    const click = `window.open('http://click.example/front'); ${later}`;
    const captured = await captureTag(banner(click));
    assert.deepEqual(
      captured.landings.map(({ ord, page_title, screenshot }) => [ord, page_title, screenshot !== null]),
      [
        [0, 'front', true],
        [1, 'behind', true],
      ],
    );
    assert.deepEqual(captured.steps(1), ['initial http://click.example/behind', 'http http://behind-offer.example/']);
  });

  it('the landings of a creative include windows that get no document: those of apps, and one whose server has no content', async () => {
    const { site } = world;
    site.setRedirect('http://click.example/app', 'intent://details#Intent;package=app;end');
    site.setPage('http://click.example/none', '', {}, 204);
    const ways: Record<string, string[]> = {
      'http://click.example/app': ['http intent://details#Intent;package=app;end'],
      'market://details?id=app': [],
      'http://click.example/none': [],
    };
    await Promise.all(
      Object.entries(ways).map(async ([url, further]) => {
        const captured = await captureTag(banner(`window.open('${url}')`), 'android_phone_pixel_8');
        assert.deepEqual(captured.steps(0), [`initial ${url}`, ...further]);
        assert.deepEqual([captured.landings.length, captured.notes], [1, ''], url);
        assert.ok(captured.file(PAGE_SCREENSHOT), 'the screenshot of the scan shows the ad on its page');
        assert.ok(site.urls().filter((asked) => asked === url).length <= 1, 'it is clicked once');
      }),
    );
  });

  it('the landings of a creative include apps that it links to in its own place, and no addresses that are closed to pages', async () => {
    const { site } = world;
    const app = 'market://details?id=app';
    const style = 'display:block;width:300px;height:250px;background:#cde';
    const framed = (name: string, click: string) => {
      site.setPage(`http://${name}.example/`, `<body style="margin:0"><a style="${style}" ${click}>an ad</a>`);
      return `<iframe src="http://${name}.example/" width=300 height=250 style="border:0"></iframe>`;
    };
    const ways: Record<string, string> = {
      script: banner(`location = '${app}'`),
      link: `<a href="${app}" style="${style}">an ad</a>`,
      frame: framed('own-app', `href="${app}"`),
      top: framed('top-app', `href="${app}" target="_top"`),
    };
    await Promise.all(
      Object.entries(ways).map(async ([way, tag]) => {
        const captured = await captureTag(tag, 'android_phone_pixel_8');
        assert.deepEqual([captured.landings.length, captured.notes], [1, ''], way);
        assert.deepEqual(captured.steps(0), [`initial ${app}`], way);
        const [checked] = captured.observed('creative_interactive');
        assert.deepEqual(checked?.facts.inert, '', `${way}: its link opens something`);
        assert.ok(captured.file(PAGE_SCREENSHOT), 'the screenshot of the scan shows the ad on its page');
      }),
    );
    const closed = await captureTag(banner("location = 'chrome://version'"));
    assert.deepEqual(closed.landings, []);
  });

  it('the landing of a creative that downloads a file when it is clicked is that file, asked for once, and no download without a click', async () => {
    const { site } = world;
    const file = { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename="a.exe"' };
    const served = (name: string, more: string) => {
      site.setPage(`http://files.example/${name}`, 'MZ', file);
      site.setRedirect(`http://click.example/${name}`, `http://files.example/${name}`);
      return `<a href="http://click.example/${name}" style="display:block;width:300px;height:250px;background:#cde" ${more}>an ad</a>`;
    };
    const made = (go: string) =>
      banner(`const url = window.URL.createObjectURL(new Blob(['MZ'], { type: 'application/octet-stream' })); ${go}`);
    const ways: Record<string, string> = {
      named: served('named', 'download'),
      placed: served('placed', ''),
      tabbed: served('tabbed', 'target=_blank'),
      'made and named': made("const a = document.createElement('a'); a.download = 'a.exe'; a.href = url; a.click()"),
      'made and placed': made('location = url'),
      'made and tabbed': made('window.open(url)'),
    };
    for (const [way, tag] of Object.entries(ways)) {
      const captured = await captureTag(tag);
      const steps = captured.steps(0).map((step) => step.replace(/[0-9a-f-]{36}$/, 'id'));
      const asked = site.urls().filter((url) => url === `http://files.example/${way}`).length;
      const expected = way.startsWith('made')
        ? [['initial blob:http://publisher.example/id'], 0]
        : [[`initial http://click.example/${way}`, `http http://files.example/${way}`], 1];
      assert.deepEqual([steps, asked], expected, way);
      assert.deepEqual([captured.landings.length, captured.notes], [1, ''], way);
      assert.deepEqual(captured.observed('auto_download'), [], way);
    }
  });

  it('the landings of a creative include the empty window that browsers show for a data: address, and it is clicked once', async () => {
    const click =
      "new Image().src = 'http://clicked.example/?' + Math.random(); window.open('data:text/html,an offer')";
    const captured = await captureTag(banner(click));
    assert.deepEqual([captured.landings.length, captured.steps(0), captured.notes], [1, [], '']);
    const clicks = world.site.urls().filter((url) => url.startsWith('http://clicked.example/'));
    assert.equal(clicks.length, 2, 'the check for elements that open nothing clicks it once more');
  });

  it('the landing of a form that a creative posts in its own frame gets once what the form posts', async () => {
    const { site } = world;
    const style = 'width:300px;height:250px;background:#cde';
    const form = `<form action="http://post.example/" method=post><input type=hidden name=offer value=7><button style="${style}">Buy`;
    site.setPage('http://posting.example/', `<body style="margin:0">${form}`);
    site.setRoute('http://post.example/', async (request, response) => {
      const sent = `${request.method} ${(await request.toArray()).join('')}`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${sent}</title>an offer`);
    });
    const captured = await captureTag(
      '<iframe src="http://posting.example/" width=300 height=250 style="border:0"></iframe>',
    );
    assert.deepEqual(captured.steps(0), ['initial http://post.example/']);
    assert.equal(captured.landings[0]?.page_title, 'POST offer=7');
    const posted = captured.requests.filter(({ url }) => url === 'http://post.example/');
    assert.deepEqual(
      posted.map(({ method, landing }) => [method, landing]),
      [['POST', 0]],
    );
    assert.equal(site.urls().filter((url) => url === 'http://post.example/').length, 1);
  });

  it('the landings of a creative begin with where its click leads, not with a window that it leaves empty', async () => {
    world.site.setPage('http://led.example/', '<title>Led</title>an offer');
    const captured = await captureTag(banner("window.open('', 'helper'); window.open('http://led.example/')"));
    assert.deepEqual(
      captured.landings.map(({ page_title }) => page_title),
      ['Led', ''],
    );
    assert.deepEqual(captured.steps(0), ['initial http://led.example/']);
  });

  it('the landings of a creative include that of a frame whose cover goes when it is pressed', async () => {
    world.site.setPage('http://covered.example/', '<title>Covered</title>shop');
    const ad = "<body style='background:teal'>Shop<script>onclick = () => open('http://covered.example/')</script>";
    const frame = `<iframe width="300" height="250" style="border:0" srcdoc="${ad}"></iframe>`;
    const cover = '<div style="position:absolute;inset:0;background:#fff3" onpointerdown="this.remove()"></div>';
    const captured = await captureTag(`<div style="position:relative;width:300px;height:250px">${frame}${cover}</div>`);
    assert.deepEqual(
      captured.landings.map(({ page_title }) => page_title),
      ['Covered'],
    );
    assert.equal(captured.notes, '');
  });

  it('the landings of a creative are all windows of a click, also one whose click tracker takes its time', async () => {
    const { site } = world;
    site.setPage('http://fast.example/', '<title>fast</title>an offer');
    site.setRoute('http://slow.example/', (_, response) => {
      const page = '<title>slow</title>an offer';
      setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(page), 7_000);
    });
    const open = "window.open('http://fast.example/'); window.open('http://slow.example/')";
    const captured = await captureTag(banner(open));
    assert.deepEqual(
      captured.landings.map(({ page_title, screenshot }) => [page_title, screenshot !== null]),
      [
        ['fast', true],
        ['slow', true],
      ],
    );
  });

  it('the landing of a creative that takes its time to open it is opened once, however often it was clicked', async () => {
    const { site } = world;
    site.setRoute('http://slow-to-open.example/', (_, response) => {
      const page = '<title>Slow</title>an offer';
      setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(page), 2_500);
    });
    const ways = {
      window: "window.open('http://slow-to-open.example/?window=' + Math.random())",
      place: "location = 'http://slow-to-open.example/?place=' + Math.random()",
    };
    await Promise.all(
      Object.entries(ways).map(async ([way, script]) => {
        const captured = await captureTag(banner(`setTimeout(() => { ${script} }, 3300)`));
        assert.deepEqual([captured.landings.map(({ page_title }) => page_title), captured.notes], [['Slow'], ''], way);
        const asked = site.urls().filter((url) => url.includes(`slow-to-open.example/?${way}`));
        assert.equal(asked.length, 1, `${way}: ${asked}`);
      }),
    );
  });

  it('a page load that the check of a creative starts asks no server, also once the capture leaves its tab', async () => {
    const { site } = world;
    site.setPage('http://early.example/', '<title>Early</title>an offer');
    const again = "setInterval(() => { location = 'http://late.example/' }, 20)";
    const captured = await captureTag(
      banner(`window.isClicked ? ${again} : window.open('http://early.example/'); window.isClicked = true`),
    );
    assert.deepEqual([captured.landings.map(({ page_title }) => page_title), captured.notes], [['Early'], '']);
    const late = (urls: string[]) => urls.filter((url) => url.includes('late.example'));
    assert.deepEqual([late(site.urls()), late(captured.urls())], [[], []]);
  });

  it('the landings of a creative have the screen of the device, whatever size their windows ask for', async () => {
    const { site } = world;
    const sizes = '[innerWidth, innerHeight, screen.width, screen.height].join()';
    site.setPage(
      'http://sized.example/',
      `<meta name="viewport" content="width=device-width"><script>document.title = ${sizes}</script>an offer`,
    );
    const titleOn = async (emulator: string) => {
      const captured = await captureTag(
        banner("window.open('http://sized.example/', '', 'width=800,height=2')"),
        emulator,
      );
      return captured.landings.map(({ page_title }) => page_title);
    };
    assert.deepEqual(await titleOn('android_phone_pixel_8'), ['412,785,412,915']);
    assert.deepEqual(await titleOn('windows_edge'), ['800,100,1366,768']);
  });
});
