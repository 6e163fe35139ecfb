import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Observation, validObservations } from '@adsweep/shared/capture/observations/index.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import { detect } from '../../../src/analysis/detectors/detect.ts';
import { NO_EVIDENCE, withoutFirstDomains } from '../../../src/analysis/evidence/evidence.ts';
import { SYSTEM_TAGS } from '../../../src/reference/tags/system-tags.ts';
import { observed, PAGE, SOUND } from '../../support/detected.ts';
import { captureOf, requestOf } from '../../support/running-farm.ts';

const tagsOf = (...observations: Observation[]) => detect({ ...NO_EVIDENCE, observations }).findings;
const slugsOf = (...observations: Observation[]) => tagsOf(...observations).map(({ tag_slug }) => tag_slug);

describe('popup_bomb', () => {
  it('names what opened', () => {
    const urls = ['', 'https://ad.example/1', 'https://ad.example/2'];
    const [finding] = tagsOf(observed('popups', { windows: 3, without_gesture: 2, urls }));
    const detail = 'landing 0: 3 windows, 2 without a click: https://ad.example/1 https://ad.example/2';
    assert.equal(finding?.detail, detail);
    const [single] = tagsOf(observed('popups', { windows: 1, without_gesture: 1, urls: [] }));
    assert.equal(single?.detail, 'landing 0: 1 window, 1 without a click');
  });
});

describe('exit_mismatch', () => {
  const exit: Exit = {
    provider: 'acme',
    exit_id: 'acme/DE',
    country_code: 'DE',
    proxy_type: 'residential',
    region: null,
    city: null,
    isp: null,
    session: 's',
    ip: '203.0.113.7',
    observed_country_code: 'AT',
    asn: null,
  };
  const found = (one: Exit | null) => detect({ ...NO_EVIDENCE, exit: one }).findings;

  it('is found for an exit in another country than was requested, without its address', () => {
    const detail = 'An exit in DE was asked for, and this one was found in AT.';
    assert.deepEqual(found(exit), [{ tag_slug: 'exit_mismatch', detail, url: '', surface: 'page' }]);
    const tag = SYSTEM_TAGS.find(({ slug }) => slug === 'exit_mismatch');
    assert.deepEqual([tag?.category, tag?.severity], ['proxy', 'medium']);
  });

  it('is not found for an exit in the requested country, an unverified exit, or no exit', () => {
    assert.deepEqual(found({ ...exit, observed_country_code: 'DE' }), []);
    assert.deepEqual(found({ ...exit, observed_country_code: null }), []);
    assert.deepEqual(found(null), []);
  });

  it('is found although the first domains are skipped', () => {
    const { landings, requests } = captureOf(['https://first.example/', 'https://second.example/']);
    const evidence = withoutFirstDomains({ ...NO_EVIDENCE, landings, requests, exit }, 1);
    assert.equal(evidence.exit, exit);
  });
});

describe('back_button', () => {
  const back = (pushes: number, copies: number, popstate_listener: boolean, probe_url: string) =>
    slugsOf(observed('back_button', { pushes, copies, popstate_listener, probe_url })).length === 1;
  const offer = 'https://offer.example/';

  it('§2.5.8 is found on a landing that pushes copies of itself and shows another offer on Back', () => {
    assert.ok(back(1, 1, true, offer));
    assert.ok(back(10, 10, false, 'https://win.example/other-offer'));
    assert.ok(back(2, 0, true, offer), 'entries of other addresses, but Back leads to another site');
  });

  it('is found for many copies, even if the probe did not leave the page', () => {
    assert.ok(back(5, 5, true, ''));
    assert.ok(!back(2, 2, true, ''));
    assert.ok(!back(5, 5, false, ''));
  });

  it('is not found in a single-page application, whose Back stays on its site', () => {
    assert.ok(!back(3, 0, true, 'https://www.win.example/step-1'));
    assert.ok(!back(1, 1, true, `${PAGE}#top`));
    assert.ok(!back(0, 0, true, offer), 'an ordinary page: Back leads to where the visitor came from');
    assert.ok(!back(0, 0, false, ''));
  });

  it('is not found in invalid observations', () => {
    const facts = { pushes: 9, copies: 9, popstate_listener: true, probe_url: offer };
    const stored = (changed: object) => ({ kind: 'back_button', landing: 0, url: PAGE, facts: changed });
    const slugs = (changed: object) => slugsOf(...validObservations([stored(changed)]));
    assert.deepEqual(slugs(facts), ['back_button']);
    assert.deepEqual(slugs({}), []);
    assert.deepEqual(slugs({ ...facts, copies: 'many' }), []);
    assert.deepEqual(slugs({ ...facts, another: 1 }), []);
  });
});

describe('autosound', () => {
  const sound = (facts: Omit<typeof SOUND, 'via'>) =>
    slugsOf(observed('autosound', { ...SOUND, ...facts })).length === 1;

  it('§2.5.9 is found on a landing that tries to play sound on open, also if the browser blocked it', () => {
    assert.ok(sound({ muted: false, volume: 1, started: true, has_audio: true }));
    assert.ok(sound({ muted: false, volume: 0.2, started: false, has_audio: true }));
  });

  it('is not found for media that are muted, have volume 0 or no audio track', () => {
    assert.ok(!sound({ muted: true, volume: 1, started: true, has_audio: true }));
    assert.ok(!sound({ muted: false, volume: 0, started: true, has_audio: true }));
    assert.ok(!sound({ muted: false, volume: 1, started: true, has_audio: false }));
  });

  it('is one tag of the whole scan, however many landings try', () => {
    const tags = tagsOf(observed('autosound', SOUND), observed('autosound', { ...SOUND, via: 'audio_context' }, 1));
    assert.deepEqual(tags, [
      {
        tag_slug: 'autosound',
        detail: 'landing 0: sound by play, it played; landing 1: sound by audio_context, it played',
        url: '',
        surface: 'page',
      },
    ]);
  });
});

describe('§2.5.11 §2.5.12 behaviours with a threshold', () => {
  const cases: [string, Observation[], Observation[]][] = [
    [
      'auto_redirect',
      [
        observed('auto_redirect', { to: 'https://other.example/', after_load_ms: 1_001, refused: false }),
        observed('auto_redirect', { to: '', after_load_ms: 0, refused: true }),
      ],
      [
        observed('auto_redirect', { to: 'https://other.example/', after_load_ms: 1_000, refused: false }),
        observed('auto_redirect', { to: 'https://www.win.example/2', after_load_ms: 5_000, refused: false }),
      ],
    ],
    [
      'app_store_redirect',
      [
        observed('auto_redirect', { to: 'itms-apps://apps.apple.com/app/id1', after_load_ms: 0, refused: false }),
        observed('auto_redirect', { to: 'https://play.google.com/store/apps/x', after_load_ms: 0, refused: false }),
        observed('popups', { windows: 1, without_gesture: 1, urls: ['market://details?id=x'] }),
      ],
      [
        observed('auto_redirect', { to: 'https://play.google.com/log', after_load_ms: 0, refused: false }),
        observed('auto_redirect', { to: 'tel:123', after_load_ms: 0, refused: false }),
        observed('popups', { windows: 1, without_gesture: 0, urls: ['market://details?id=x'] }),
        observed(
          'auto_redirect',
          { to: 'https://apps.apple.com/us/app', after_load_ms: 0, refused: false },
          0,
          'https://apps.apple.com/app',
        ),
      ],
    ],
    [
      'popup_bomb',
      [
        observed('popups', { windows: 1, without_gesture: 1, urls: [] }),
        observed('popups', { windows: 3, without_gesture: 0, urls: [] }),
      ],
      [observed('popups', { windows: 2, without_gesture: 0, urls: [] })],
    ],
    ['dialog_loop', [observed('dialogs', { count: 3 })], [observed('dialogs', { count: 2 })]],
    [
      'cpu_hog',
      [
        observed('main_thread', { busy_share: 0.8, over_ms: 4_000 }),
        observed('main_thread', { busy_share: 0.6, over_ms: 7_000 }),
        observed('worker_load', { workers: 1, busy_share: 0.6, over_ms: 3_000, socket_url: '' }),
        observed('child_flood', { children_max: 250 }),
      ],
      [
        observed('main_thread', { busy_share: 0.79, over_ms: 6_999 }),
        observed('main_thread', { busy_share: 0.59, over_ms: 9_000 }),
        observed('main_thread', { busy_share: 1, over_ms: 3_999 }),
        observed('worker_load', { workers: 1, busy_share: 0.59, over_ms: 3_000, socket_url: '' }),
      ],
    ],
    [
      'crypto_mining',
      [observed('worker_load', { workers: 1, busy_share: 0.6, over_ms: 3_000, socket_url: 'wss://pool.example/' })],
      [
        observed('worker_load', { workers: 1, busy_share: 0.5, over_ms: 3_000, socket_url: 'wss://pool.example/' }),
        observed('worker_load', { workers: 1, busy_share: 1, over_ms: 3_000, socket_url: '' }),
      ],
    ],
    [
      'heavy_ad',
      [observed('frame_weight', { bytes: 4_194_304, width: 300, height: 250 })],
      [
        observed('frame_weight', { bytes: 4_194_303, width: 300, height: 250 }),
        observed('frame_weight', { bytes: 9_000_000, width: 1_280, height: 720 }),
      ],
    ],
    [
      'clipboard_access',
      [
        observed('unprompted_call', { demand: 'clipboard_read', trigger: 'none' }),
        observed('unprompted_call', { demand: 'clipboard_write', trigger: 'none' }),
      ],
      [observed('unprompted_call', { demand: 'vibration', trigger: 'none' })],
    ],
    [
      'fingerprinting',
      [
        observed('fingerprint', { canvas_reads: 1, audio_renders: 1, fonts: 0 }),
        observed('fingerprint', { canvas_reads: 1, audio_renders: 0, fonts: 32 }),
        observed('fingerprint', { canvas_reads: 0, audio_renders: 1, fonts: 32 }),
      ],
      [
        observed('fingerprint', { canvas_reads: 64, audio_renders: 0, fonts: 16 }),
        observed('fingerprint', { canvas_reads: 0, audio_renders: 0, fonts: 512 }),
        observed('fingerprint', { canvas_reads: 0, audio_renders: 8, fonts: 0 }),
      ],
    ],
    ['vibrate', [observed('unprompted_call', { demand: 'vibration', trigger: 'none' })], []],
    ['push_prompt', [observed('unprompted_call', { demand: 'push', trigger: 'none' })], []],
    ['fullscreen_lock', [observed('unprompted_call', { demand: 'fullscreen', trigger: 'click_anywhere' })], []],
  ];
  for (const [slug, guilty, innocent] of cases)
    it(`${slug} is found from its threshold on, and not below`, () => {
      for (const observation of guilty)
        assert.ok(slugsOf(observation).includes(slug), JSON.stringify(observation.facts));
      for (const observation of innocent)
        assert.ok(!slugsOf(observation).includes(slug), JSON.stringify(observation.facts));
    });

  it('auto_redirect is found if the page leaves through another URL of its own site', () => {
    const own = 'https://go.win.example/next';
    const leave = (after_load_ms: number) => observed('auto_redirect', { to: own, after_load_ms, refused: false });
    const step = (after_load_ms: number, url = own, to = 'https://other.example/') =>
      observed('auto_redirect', { to, after_load_ms, refused: false }, 0, url);
    assert.deepEqual(slugsOf(leave(1_001), step(5)), ['auto_redirect']);
    const second = 'https://win.example/last';
    assert.deepEqual(slugsOf(leave(1_001), step(5, own, second), step(5, second)), ['auto_redirect']);
    assert.deepEqual(slugsOf(leave(1_000), step(5)), []);
    assert.deepEqual(slugsOf(leave(1_001), step(5, 'https://win.example/another')), []);
    assert.deepEqual(slugsOf(leave(1_001), step(5, own, own)), []);
  });

  it('crypto_mining is found by a request to a known pool', () => {
    const requests = ['https://pool.coinhive.com/x', 'https://nothing.example/'].map((url, id) =>
      requestOf(id, { url }),
    );
    const slugs = (request: (typeof requests)[number] | undefined) =>
      detect({ ...NO_EVIDENCE, requests: request ? [request] : [] }).findings.map(({ tag_slug }) => tag_slug);
    assert.deepEqual(slugs(requests[0]), ['crypto_mining']);
    assert.deepEqual(slugs(requests[1]), []);
  });
});

describe('invalid_certificate', () => {
  it('is one tag for each document with such a certificate', () => {
    const bad = (url: string) =>
      observed('invalid_certificate', { host: new URL(url).hostname, reason: 'expired' }, 0, url);
    const tags = tagsOf(bad('https://a.example/'), bad('https://b.example/'), bad('https://a.example/'));
    assert.deepEqual(
      tags.map(({ url, detail }) => [url, detail]),
      [
        ['https://a.example/', 'a.example: expired'],
        ['https://b.example/', 'b.example: expired'],
      ],
    );
  });
});
