import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Captured, CaptureWorld } from './support/capture-world.ts';
import { UNLIKE_NATIVE } from './support/device-site.ts';

const media = (name: string) => readFileSync(new URL(`pages/media/${name}`, import.meta.url));
/** The sounds that detection counts. */
const sounds = (captured: Captured) =>
  captured.observed('autosound').filter(({ facts }) => !facts.muted && Number(facts.volume) > 0 && facts.has_audio);

describe('what a capture observes of a page', { concurrency: 4 }, () => {
  let world: CaptureWorld;
  let hosts = 0;
  before(async () => {
    world = await CaptureWorld.start();
  });
  after(() => world.close());

  /** Captures a page with this body on its own host, which also serves the test media. */
  async function observe(body: string): Promise<Captured> {
    const host = `http://observed-${++hosts}.example`;
    world.site.setPage(`${host}/`, `<!doctype html><title>o</title><body>${body}`);
    for (const name of ['sound.webm', 'film-with-sound.webm', 'film-without-sound.webm'])
      world.site.setText(`${host}/${name}`, 'video/webm', media(name));
    return world.capture(`${host}/`);
  }

  describe('autosound', { concurrency: 4 }, () => {
    const attempts: [string, string, string][] = [
      ['new Audio().play()', `<script>new Audio('/sound.webm').play()</script>`, 'play'],
      [
        'a film that is played by script',
        `<video src=/film-with-sound.webm></video><script>document.querySelector('video').play()</script>`,
        'play',
      ],
      ['an audio element with autoplay', '<audio autoplay src=/sound.webm></audio>', 'autoplay'],
      ['a film with autoplay', '<video autoplay src=/film-with-sound.webm></video>', 'autoplay'],
      [
        'autoplay set by script on what is not in the document',
        `<script>const a = new Audio(); a.autoplay = true; a.src = '/sound.webm'</script>`,
        'autoplay',
      ],
      [
        'an element in a fragment that scripts keep outside the document',
        `<script>const holder = document.createElement('template'); holder.innerHTML = '<audio src=/sound.webm autoplay loop></audio>';
        globalThis.kept = document.importNode(holder.content, true)</script>`,
        'autoplay',
      ],
      [
        'an oscillator at the end of ways that are as many as a million',
        `<script>const c = new AudioContext(); const o = c.createOscillator(); let from = [o, o];
        for (let layer = 0; layer < 24; layer++) {
          const to = [c.createGain(), c.createGain()];
          for (const one of from) for (const other of to) for (let time = 0; time < 200; time++) one.connect(other);
          from = to;
        }
        from[0].connect(c.destination); o.start()</script>`,
        'audio_context',
      ],
      [
        'an oscillator',
        '<script>const c = new AudioContext(); const o = c.createOscillator(); o.connect(c.destination); o.start()</script>',
        'audio_context',
      ],
      [
        'samples of a buffer that is set after the start',
        `<script>const c = new AudioContext(); const s = c.createBufferSource(); s.connect(c.destination); s.start(0); s.buffer = c.createBuffer(1, 22050, 22050)</script>`,
        'audio_context',
      ],
      [
        'a short sample in a loop',
        `<script>const c = new AudioContext(); const s = c.createBufferSource(); s.buffer = c.createBuffer(1, 10, 22050); s.loop = true; s.connect(c.destination); s.start(0)</script>`,
        'audio_context',
      ],
      [
        'a stream of which each 26 ms are a source of their own',
        `<script>const c = new AudioContext(); const s = c.createBufferSource(); s.buffer = c.createBuffer(2, 1152, 44100); s.connect(c.destination); s.start(0)</script>`,
        'audio_context',
      ],
      [
        'an oscillator that is connected to the speakers after a hundred other nodes',
        `<script>const c = new AudioContext(); const o = c.createOscillator(); for (let i = 0; i < 101; i++) o.connect(c.createGain()); o.connect(c.destination); o.start()</script>`,
        'audio_context',
      ],
      [
        'an oscillator at the end of a thousand nodes',
        `<script>const c = new AudioContext(); const o = c.createOscillator(); let at = o;
        for (let i = 0; i < 1000; i++) at = at.connect(c.createGain());
        at.connect(c.destination); o.start()</script>`,
        'audio_context',
      ],
      ['a film in a frame of another site', '', 'play'],
    ];
    const worklets: [name: string, process: string, gain: number, isHeard: boolean][] = [
      ['makes a tone after a pause', 'if (++this.n > 20) output[0].fill(0.5)', 1, true],
      ['needs the value of a parameter', 'output[0].fill(parameters.level[0])', 1, true],
      ['makes a tone without volume', 'output[0].fill(0.5)', 0, false],
      ['is silent until it gets samples', 'if (this.samples) output[0].set(this.samples)', 1, false],
      ['changes what is connected to it', 'output[0].set(inputs[0][0])', 1, false],
    ];
    for (const [name, process, gain, isHeard] of worklets)
      it(`autosound is ${isHeard ? '' : 'not '}found for an audio worklet that ${name}`, async () => {
        const url = `https://worklet-${++hosts}.example/`;
        const module = `registerProcessor('p', class extends AudioWorkletProcessor {
          static parameterDescriptors = [{ name: 'level', defaultValue: 0.5 }];
          n = 0;
          process(inputs, [output], parameters) { ${process}; return true; }
        })`;
        world.site.setText(`${url}p.js`, 'text/javascript', module);
        world.site.setPage(
          url,
          `<title>o</title><script>
          const c = new AudioContext();
          c.audioWorklet.addModule('/p.js').then(() => {
            const gain = new GainNode(c, { gain: ${gain} });
            new AudioWorkletNode(c, 'p').connect(gain).connect(c.destination);
          })</script>`,
        );
        assert.equal(sounds(await world.capture(url)).length, isHeard ? 1 : 0);
      });

    for (const [name, body, via] of attempts)
      it(`autosound is recorded for ${name}`, async () => {
        world.site.setText('http://sounding-frame.example/sound.webm', 'video/webm', media('sound.webm'));
        world.site.setPage('http://sounding-frame.example/', `<script>new Audio('/sound.webm').play()</script>`);
        const captured = await observe(body || '<iframe src=http://sounding-frame.example/></iframe>');
        assert.deepEqual(
          sounds(captured).map(({ facts }) => facts.via),
          [via],
          JSON.stringify(captured.observed('autosound')),
        );
      });

    const silent: [string, string][] = [
      ['a muted film', '<video autoplay muted src=/film-with-sound.webm></video>'],
      [
        'a film muted by script',
        `<video src=/film-with-sound.webm></video><script>const v = document.querySelector('video'); v.muted = true; v.play()</script>`,
      ],
      [
        'a film at volume 0',
        `<video src=/film-with-sound.webm></video><script>const v = document.querySelector('video'); v.volume = 0; v.play()</script>`,
      ],
      ['a film without a sound track', '<video autoplay src=/film-without-sound.webm></video>'],
      [
        'a sound that waits for a click',
        `<audio controls src=/sound.webm></audio><script>onclick = () => document.querySelector('audio').play()</script>`,
      ],
      [
        'a fingerprint by an offline context',
        `<script>const c = new OfflineAudioContext(1, 5000, 44100); const o = c.createOscillator(); o.connect(c.destination); for (let i = 0; i < 101; i++) o.connect(c.createGain()); o.start(); c.startRendering()</script>`,
      ],
      [
        'an empty sample that wakes the device, and a source without a buffer',
        `<script>const c = new AudioContext(); for (const buffer of [c.createBuffer(1, 1, 22050), null]) {
          const s = c.createBufferSource(); s.buffer = buffer; s.connect(c.destination); s.start(0);
        }</script>`,
      ],
      [
        'a fingerprint at gain 0',
        `<script>const c = new AudioContext(); const o = c.createOscillator(); const g = c.createGain(); g.gain.value = 0; o.connect(g); g.connect(c.destination); for (let i = 0; i < 101; i++) o.connect(c.createGain().gain); o.start()</script>`,
      ],
    ];
    it(`autosound is not recorded for ${silent.map(([name]) => name).join(', for ')}`, async () => {
      const frames = silent.map(([, body]) => `<iframe srcdoc="${body.replaceAll('"', '&quot;')}"></iframe>`);
      const captured = await observe(frames.join(''));
      assert.equal(captured.documents().length, 1 + silent.length, captured.notes);
      assert.deepEqual(sounds(captured), []);
    });

    it('a page that provokes errors of watched functions sees no line of a page script, and nothing of its arguments is read', async () => {
      const captured = await observe(`<script>
        const seen = [];
        const stack = (work) => {
          try { work() } catch (error) { seen.push(error.stack.split('\\n').slice(1).map((line) => line.includes('observed-') || line)) }
        };
        stack(() => alert(Symbol()));
        stack(() => alert({ toString() { throw new Error('mine') } }));
        stack(() => CanvasRenderingContext2D.prototype.fillText.call({}));
        stack(() => navigator.vibrate.call({}));
        stack(() => Function.prototype.toString.call({}));
        stack(() => Reflect.setPrototypeOf(new Proxy({}, { setPrototypeOf() { throw new Error('mine') } }), null));
        const read = [];
        const named = (name) => ({ get() { read.push(name); return 1 } });
        Object.defineProperty(Object.prototype, 'value', { ...named('what a descriptor lacks'), configurable: true });
        navigator.vibrate(Object.defineProperty([1], 0, Object.assign(Object.create(null), named('pattern'))));
        delete Object.prototype.value;
        setTimeout(() => 0, Object.assign(() => 0, { valueOf() { read.push('delay'); return 1 } }));
        document.title = JSON.stringify([seen, read]);
      </script>`);
      const [stacks, read] = JSON.parse(captured.landings[0]?.page_title ?? '');
      const own = (lines: number) => new Array(lines).fill(true);
      assert.deepEqual(stacks, [
        own(3),
        own(4),
        own(3),
        own(3),
        [' at Object.toString (<anonymous>)', ...own(3)],
        [true, ' at Reflect.setPrototypeOf (<anonymous>)', ...own(3)],
      ]);
      assert.deepEqual(read, ['pattern', 'delay']);
    });

    it('a page cannot tell functions that a capture replaces from native ones, and its own code is not run by them', async () => {
      const captured = await observe(`<script>${UNLIKE_NATIVE}
        onerror = (message) => { document.title = JSON.stringify(message) };
        const found = unlikeNative([
          ...['setTimeout', 'setInterval', 'clearTimeout'].map((name) => [window, name]),
          ...['connect'].map((name) => [AudioNode.prototype, name]),
          ...['fillText', 'getImageData'].map((name) => [CanvasRenderingContext2D.prototype, name]),
          ...['toDataURL', 'toBlob'].map((name) => [HTMLCanvasElement.prototype, name]),
          ...['vibrate'].map((name) => [Navigator.prototype, name]),
        ]);
        const refuses = (set, fn, prototype, message) => {
          try { set(fn, prototype); found.push(fn.name + ' takes a wrong prototype') } catch (error) {
            if (!error.message.includes(message) || !/(setPrototypeOf|set __proto__) .*\\n +at [^\\n]*observed-/.test(error.stack)) found.push(error.stack);
          }
          if (Reflect.setPrototypeOf(fn, prototype)) found.push(fn.name + ' takes a wrong prototype by Reflect');
        };
        Object.preventExtensions(confirm);
        for (const set of [Object.setPrototypeOf, (fn, prototype) => { fn.__proto__ = prototype }]) {
          for (const fn of [alert, Object.setPrototypeOf, Reflect.setPrototypeOf])
            for (const cyclic of [Object.create(fn), fn]) refuses(set, fn, cyclic, 'Cyclic __proto__ value');
          refuses(set, confirm, {}, 'is not extensible');
        }
        if (!Reflect.setPrototypeOf(prompt, print) || Object.getPrototypeOf(prompt) !== print) found.push('prompt takes no prototype');
        'a page'.match(/page/);
        let runs = 0;
        const { exec, test } = RegExp.prototype;
        RegExp.prototype.exec = RegExp.prototype.test = () => { runs += 1; return null };
        Error.prepareStackTrace = () => { runs += 1; return '' };
        history.pushState(null, '', '/other');
        setTimeout(() => { if (0) location.href = '/next' }, 2_000);
        let left = 3; const timer = setInterval(() => --left || clearInterval(timer), 300);
        try { Function.prototype.toString.call({}) } catch {}
        try { Navigator.prototype.vibrate.call({}) } catch {}
        const { lastMatch } = RegExp;
        Object.assign(RegExp.prototype, { exec, test });
        delete Error.prepareStackTrace;
        document.title = JSON.stringify([found, runs, lastMatch]);
      </script>`);
      assert.deepEqual(JSON.parse(captured.landings[0]?.page_title ?? ''), [[], 0, 'page']);
    });

    it('a page that prints the functions that autosound replaces does not notice', async () => {
      const captured = await observe(`<script>
        const play = HTMLMediaElement.prototype.play;
        const own = Object.getOwnPropertyNames(window).filter((name) => /adsweep|playwright|cdp|^__/i.test(name));
        document.title = [play, play.toString, Function.prototype.toString, AudioNode.prototype.connect, console.log, Reflect.setPrototypeOf].map(String).join(' ').replace(/\\s+/g, ' ')
          + ' | ' + play.name + play.length + ' | ' + own + ' | ' + ('prototype' in play);
      </script>`);
      const native = (name: string) => `function ${name}() { [native code] }`;
      assert.equal(
        captured.landings[0]?.page_title,
        `${native('play')} ${native('toString')} ${native('toString')} ${native('connect')} ${native('log')} ${native('setPrototypeOf')} | play0 | | false`,
      );
    });
  });

  it('page scripts run in every document that a page can reach, and not in the empty one that a tab begins with', async () => {
    // A browser without a screen reports 0, and every device of ours 50.
    const rtt = 'navigator.connection.rtt';
    const url = 'http://reached.example/';
    world.site.setPage(
      url,
      `<iframe></iframe><script>
        const popup = open('');
        window.rtts = [window, frames[0], popup].map((each) => each.${rtt});
        popup.close();
      </script>`,
    );
    await world.withContext(async (open) => {
      const page = await open.context.newPage();
      assert.equal(await page.evaluate(rtt), 0);
      for (const leave of ['location.href =', 'location.replace']) {
        await page.goto(url);
        assert.deepEqual(await page.evaluate('rtts'), [50, 50, 50]);
        await page.evaluate(`${leave} ('about:blank')`);
        await page.waitForURL('about:blank');
        assert.equal(await page.evaluate(rtt), 50, leave);
      }
    });
  });

  describe('back_button', { concurrency: 4 }, () => {
    it('back_button is recorded for a page that adds copies of itself to the history and navigates to another offer on Back', async () => {
      world.site.setPage('http://other-offer.example/', '<title>other offer</title>');
      const captured = await observe(`<script>
        for (let i = 0; i < 6; i++) history.pushState({ i }, '', location.href);
        addEventListener('popstate', () => { location.href = 'http://other-offer.example/' });</script>`);
      assert.deepEqual(
        captured.observed('back_button').map(({ facts }) => facts),
        [{ pushes: 6, copies: 6, popstate_listener: true, probe_url: 'http://other-offer.example/' }],
      );
      assert.equal(captured.steps().length, 1);
      assert.ok(!captured.urls().includes('http://other-offer.example/'));
      assert.match(captured.landings[0]?.final_url ?? '', /observed/);
    });

    it('back_button is recorded for a page that adds fragments of itself to the history and handles Back later', async () => {
      const captured = await observe(`<script>
        onload = () => setTimeout(() => {
          for (let i = 0; i < 4; i++) location.hash = 'x' + i;
          onpopstate = () => location.replace('/exit-offer');
        }, 300)</script>`);
      const [observation] = captured.observed('back_button');
      assert.equal(observation?.facts.copies, 4);
      assert.equal(observation?.facts.popstate_listener, true);
      assert.match(String(observation?.facts.probe_url), /\/exit-offer$/);
    });

    it('back_button is recorded with one added entry for an app that pushes one state on load', async () => {
      const captured = await observe(`<script>
        history.replaceState({}, '', '?a'); history.pushState({}, '', '/view');
        addEventListener('popstate', () => { document.title = location.pathname })</script>`);
      assert.deepEqual(
        captured.observed('back_button').map(({ facts }) => facts),
        [{ pushes: 1, copies: 1, popstate_listener: true, probe_url: '' }],
      );
    });

    it('back_button is not recorded for replaced states, frames that navigate and hops', async () => {
      const captured = await observe(`<iframe></iframe><script>
        for (let i = 0; i < 5; i++) history.replaceState({}, '', '?' + i);
        if (!location.search.includes('x')) onload = () => setTimeout(() => { document.querySelector('iframe').src = '/frame' }, 50)</script>`);
      assert.deepEqual(captured.observed('back_button'), []);
    });
  });

  it('the text of a page has what it draws on a canvas that is seen, again after each drawing, and not of one that is not', async () => {
    const captured = await observe(`<canvas width=900 height=300></canvas><script>
      const context = document.querySelector('canvas').getContext('2d');
      const draw = (text, y) => { context.font = '24px sans-serif'; context.fillText(text, 20, y) };
      draw('Your PC is infected', 40);
      for (const [at, letter] of [...'Call now'].entries()) context.strokeText(letter, 20 + at * 14, 80);
      let frames = 0; const timer = setInterval(() => { draw('again and again', 120); if (++frames > 50) clearInterval(timer) }, 10);
      onload = () => setTimeout(() => draw('late', 160), 700);
      const other = document.createElement('iframe'); document.body.append(other);
      other.contentDocument.createElement('canvas').getContext('2d').fillText('unseen', 0, 20)</script>`);
    const [own] = captured.documents();
    assert.equal(own?.text, 'Your PC is infected\nCall now\nagain and again\nlate');
  });

  describe('invalid_certificate', { concurrency: 4 }, () => {
    it('invalid_certificate is recorded for a page and for a hop, with its reason', async () => {
      const { site } = world;
      site.setPage('https://publisher.example/', 'fine');
      site.setPage('https://stranger.example/', '<script>location = "http://plain.example/"</script>');
      site.setPage('http://plain.example/', 'plain');
      const [own, hop] = await Promise.all([
        world.capture('https://publisher.example/'),
        world.capture('https://stranger.example/'),
      ]);
      assert.deepEqual(
        own.observed('invalid_certificate').map(({ facts, url }) => ({ ...facts, url })),
        [{ host: 'publisher.example', reason: 'self_signed', url: 'https://publisher.example/' }],
      );
      assert.deepEqual(
        hop.observed('invalid_certificate').map(({ facts }) => facts),
        [{ host: 'stranger.example', reason: 'wrong_name' }],
      );
    });

    it('invalid_certificate is recorded for the frame of a creative', async () => {
      world.site.setPage(
        'https://adserver.example/',
        '<div style="width:300px;height:250px;background:#cde">an ad</div>',
      );
      const captured = await world.capture('<iframe src="https://adserver.example/" width=300 height=250></iframe>', {
        kind: 'ad_tag',
      });
      assert.deepEqual(
        captured.observed('invalid_certificate').map(({ landing, facts: { host } }) => [landing, host]),
        [[null, 'adserver.example']],
      );
    });
  });
});
