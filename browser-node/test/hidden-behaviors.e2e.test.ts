import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Captured, CaptureWorld } from './support/capture-world.ts';

const PAGES = new URL('pages/behaviors/', import.meta.url);
const MEDIA = ['sound.webm', 'film-with-sound.webm', 'film-without-sound.webm'];
const read = (path: string) => readFileSync(new URL(path, PAGES));
/** The sounds that detection counts. */
const sounds = (captured: Captured) =>
  captured.observed('autosound').filter(({ facts }) => !facts.muted && Number(facts.volume) > 0 && facts.has_audio);
/** The Back traps that detection counts. */
const traps = (captured: Captured) =>
  captured
    .observed('back_button')
    .filter(({ facts }) => facts.popstate_listener && (Number(facts.copies) >= 3 || facts.probe_url !== ''));

/** Where a page is shown: in a tab, or in a frame or window of a page that has replaced all functions too. */
const PLACES: Record<string, (url: string, site: string) => string> = {
  'a tab': (_, page) => page,
  'a frame': (url) => `<script src=/replace-everything.js></script><iframe src=${url}></iframe>`,
  'a frame of another site': (url) =>
    `<script src=/replace-everything.js></script><iframe src=${url.replace('http://', 'http://other-')}></iframe>`,
  'a window': (url) =>
    `<script>const show = open</script><script src=/replace-everything.js></script><script>show('${url}')</script>`,
};

describe('hidden behaviours', { concurrency: 4 }, () => {
  let world: CaptureWorld;
  let hosts = 0;
  before(async () => {
    world = await CaptureWorld.start();
    world.site.setPage('http://offer-of-a-trap.example/', '<title>an offer</title>');
  });
  after(() => world.close());

  async function show(name: string, place = 'a tab'): Promise<Captured> {
    const host = `hidden-${++hosts}.example`;
    const { site } = world;
    const page = read(`${name}.html`).toString('utf8');
    for (const origin of [`http://${host}`, `http://other-${host}`]) {
      for (const file of MEDIA) site.setText(`${origin}/${file}`, 'video/webm', read(`../media/${file}`));
      site.setText(`${origin}/replace-everything.js`, 'text/javascript', read('replace-everything.js'));
      site.setPage(`${origin}/shown`, page);
    }
    site.setPage(`http://${host}/`, PLACES[place]?.(`http://${host}/shown`, page) ?? '');
    return world.capture(`http://${host}/`);
  }

  for (const place of Object.keys(PLACES)) {
    for (const name of ['hidden-play', 'hidden-play-after-load', 'hidden-autoplay', 'hidden-oscillator'])
      it(`${name}: the sound is recorded in ${place} that replaced all functions`, async () => {
        const captured = await show(name, place);
        assert.equal(sounds(captured).length, 1, JSON.stringify(captured.observed('autosound')));
      });

    it(`innocent-replacing: no sound is recorded in ${place} that replaced all functions and is silent`, async () => {
      const captured = await show('innocent-replacing', place);
      assert.deepEqual(sounds(captured), []);
      assert.deepEqual(captured.observed('back_button'), []);
    });
  }

  const LOUD = [
    'muted-crowd',
    'loud-for-a-moment',
    'sound-in-empty-frame',
    'sound-in-empty-popup',
    'sound-after-document-open',
  ];
  for (const name of LOUD)
    it(`${name}: the sound is recorded`, async () => {
      const captured = await show(name);
      assert.ok(sounds(captured).length > 0, JSON.stringify(captured.observed('autosound')));
    });

  for (const name of ['innocent-muted-crowd', 'innocent-muted-at-once'])
    it(`${name}: no sound is recorded`, async () => {
      assert.deepEqual(sounds(await show(name)), []);
    });

  it('hidden-history: the Back trap is recorded in a tab that replaced all functions', async () => {
    const captured = await show('hidden-history');
    assert.deepEqual(
      captured.observed('back_button').map(({ facts }) => facts),
      [{ pushes: 5, copies: 5, popstate_listener: true, probe_url: 'http://offer-of-a-trap.example/' }],
    );
  });

  for (const place of ['a frame', 'a frame of another site']) {
    it(`trap-in-frame: the Back trap is recorded in ${place}`, async () => {
      const captured = await show('trap-in-frame', place);
      assert.deepEqual(
        captured.observed('back_button').map(({ facts }) => facts),
        [{ pushes: 5, copies: 5, popstate_listener: true, probe_url: 'http://offer-of-a-trap.example/' }],
      );
    });

    it(`innocent-app-in-frame: no Back trap is recorded in ${place}`, async () => {
      const captured = await show('innocent-app-in-frame', place);
      assert.deepEqual(traps(captured), [], JSON.stringify(captured.observed('back_button')));
    });
  }

  it('every page directly in the folder behaviors is tested', () => {
    const source = readFileSync(import.meta.filename, 'utf8');
    for (const file of readdirSync(PAGES).filter((name) => name.endsWith('.html')))
      assert.ok(source.includes(`'${file.replace('.html', '')}'`), file);
  });
});
