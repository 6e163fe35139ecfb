import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { ObservationKind } from '@adsweep/shared/capture/observations/index.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { seeMember } from '../src/capture/capture-member.ts';
import { leaveSession, openSession, watchContext } from '../src/capture/session/capture-session.ts';
import { closeTabs } from '../src/capture/session/close-tabs.ts';
import { url as page } from '../src/capture/targets/url.ts';
import { CaptureWorld } from './support/capture-world.ts';

const silent = createLogger('test', 'fatal');
const script = (source: string) => `<script>${source}</script>`;
const DOWNLOAD =
  "const file = document.createElement('a'); file.download = 'a.zip'; file.href = '/a.zip'; file.click();";
const BUSY =
  'const until = () => performance.now() + 90; setInterval(() => { const end = until(); while (performance.now() < end); }, 100);';
// Chromium parses no more of a page that has begun to navigate, also if it then stays.
const LEAVES =
  'navigator.vibrate(20); setInterval(() => { if (top.ready) { top.ready = false; top.location = `http://page.example/nothing` } }, 900)';
const FORM = '<form action="/take"><input type=password></form>';

/**
 * A page with frames that each do something, by name, and empty frames before those of other sites. Nothing of it is what `innocent` does, although the
 * page reports in its name and calls what reports may be called.
 */
const PAGE = `<title>a page</title>
<iframe name=blank></iframe>
<iframe name=srcdoc srcdoc="${script(LEAVES).replaceAll('"', '&quot;')}"></iframe>
<iframe name=same src="http://page.example/same"></iframe>
<iframe name=cross src="http://ad.example/cross"></iframe>
<iframe name=outer src="http://ad.example/outer"></iframe>
<iframe name=worker src="http://worker.example/"></iframe>
<iframe name=busy src="http://busy.example/"></iframe>
<iframe name=removed src="http://removed.example/"></iframe>
<iframe name=innocent src="http://innocent.example/"></iframe>
${'<iframe hidden></iframe>'.repeat(8)}
<script>
  const blank = frames.blank.document;
  blank.open(); blank.write("<script>open('http://opened.example/?blank', '', 'noopener'); alert('blank')<\\/script>"); blank.close();
  for (const line of ['unprompted-call|vibration|false', 'fingerprint|canvas|8', 'sound|1|play|false|1|true|true']) {
    console.debug('token|' + line); console.debug('|token|' + line);
    frames.innocent.postMessage(line, '*');
  }
  for (const name of Object.getOwnPropertyNames(window)) if (/^_[0-9a-f]{32}$/.test(name)) window[name]('token|unprompted-call|vibration|false');
  onmessage = () => document.getElementsByName('removed')[0].remove();
  setInterval(() => frames.cross.postMessage('go', '*'), 200);
  setTimeout(() => {
    const late = document.createElement('iframe');
    late.name = 'late'; late.src = 'http://ad.example/late';
    document.body.append(late);
  }, 1500);
  var ready = true;
</script>`;

/** The names of the frames of the first tab that a capture holds responsible, by kind of observation, each once; '' = the page. */
const framesBlamed = (world: CaptureWorld, url: string): Promise<Partial<Record<ObservationKind, string[]>>> =>
  world.withContext(async (open, request) => {
    const names = new Map<string, string>();
    const watch = await watchContext(open);
    const session = openSession(watch, { limits: JOB_LIMITS.page }, new AbortController().signal, silent);
    const named = ({ frame }: { frame: { id: string; name?: string } }) => void names.set(frame.id, frame.name ?? '');
    session.devtools.on('Page.frameNavigated', named);
    session.devtools.on('Page.documentOpened', named);
    const { draft } = await seeMember(session, page, request(url));
    await closeTabs(session, async () => null);
    leaveSession(session);
    await watch.close();
    const frames = (all: typeof draft.observations) => all.map(({ frameId }) => names.get(frameId ?? '') ?? '');
    const byKind = [...Map.groupBy(draft.observations, ({ kind }) => kind)];
    return Object.fromEntries(byKind.map(([kind, all]) => [kind, [...new Set(frames(all))].sort()]));
  });

describe('the frame that is responsible for what happens on a page', () => {
  let world: CaptureWorld;
  /** The names of the responsible frames by kind of observation; '' = the page itself. */
  let blamed: Partial<Record<ObservationKind, string[]>>;
  before(async () => {
    world = await CaptureWorld.start();
    const { site } = world;
    site.setPage('http://page.example/', PAGE);
    site.setPage('http://page.example/nothing', '', {}, 204);
    site.setPage('http://page.example/same', script(`history.pushState(1, ''); history.pushState(2, ''); ${DOWNLOAD}`));
    site.setText('http://page.example/a.zip', 'application/zip', 'PK');
    const cross =
      "onmessage = () => { onmessage = null; open('http://opened.example/?cross'); alert(1); Notification.requestPermission(); top.location = 'http://gone.example/' }";
    site.setPage('http://ad.example/cross', script(cross));
    site.setPage('http://ad.example/outer', '<iframe name=inner src="http://nested.example/"></iframe>');
    site.setPage('http://nested.example/', `${FORM}${script(`const sound = new Audio('/sound.webm'); sound.play()`)}`);
    site.setText(
      'http://nested.example/sound.webm',
      'video/webm',
      readFileSync(new URL('pages/media/sound.webm', import.meta.url)),
    );
    // Its process is the one in which the frame `cross` was refused a navigation of the page.
    site.setPage('http://ad.example/late', script('navigator.vibrate(9)'));
    const work = 'for (;;) if (performance.now() > 60000) break';
    site.setPage('http://worker.example/', script(`new Worker(URL.createObjectURL(new Blob(["${work}"])))`));
    site.setPage('http://busy.example/', script(BUSY));
    site.setPage(
      'http://removed.example/',
      script("navigator.vibrate(9); setTimeout(() => parent.postMessage('remove', '*'), 200)"),
    );
    site.setPage('http://innocent.example/', 'An ad that does nothing');
    site.setPage('http://opened.example/', 'opened');
    blamed = await framesBlamed(world, 'http://page.example/');
  });
  after(() => world.close());

  const EXPECTED: Partial<Record<ObservationKind, string[]>> = {
    dialogs: ['blank', 'cross'],
    popups: ['blank', 'cross'],
    auto_download: ['same'],
    back_button: ['same'],
    auto_redirect: ['cross', 'srcdoc'],
    unprompted_call: ['cross', 'late', 'removed', 'srcdoc'],
    autosound: ['inner'],
    form: ['inner'],
    main_thread: ['busy'],
    worker_load: ['worker'],
  };
  for (const [kind, frames] of Object.entries(EXPECTED))
    it(`${kind}: the frames that do it are recorded`, () => {
      assert.deepEqual(blamed[kind as ObservationKind], frames);
    });

  it('a page cannot report in the name of a frame', () => {
    assert.deepEqual(
      Object.entries(blamed).filter(([, frames]) => frames.includes('innocent')),
      [],
    );
    assert.equal(blamed.fingerprint, undefined);
  });
});
