import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { combine } from '../../../src/analysis/detectors/detector.ts';
import { NO_EVIDENCE, withoutFirstDomains } from '../../../src/analysis/evidence/evidence.ts';
import { SYSTEM_TAGS } from '../../../src/reference/tags/system-tags.ts';
import { inService, mergeDefinitions } from '../../../src/reference/tags/tag-definitions.ts';
import { observed, SOUND } from '../../support/detected.ts';
import { captureOf, requestOf } from '../../support/running-farm.ts';

describe('findings together', () => {
  it('keep the first finding of each slug where their URLs are too long for one scan', () => {
    const long = (slug: string, at: number) => ({
      ...{ tag_slug: slug, detail: 'Found.', surface: 'page' as const },
      url: `https://hop-${at}.example/`.padEnd(8_000, 'x'),
    });
    const noisy = Array.from({ length: 100 }, (_, at) => long('noisy', at));
    const rules = Array.from({ length: 100 }, (_, at) => long(`rule-${at}`, at));
    const combined = combine([...noisy, ...rules]);
    assert.ok(JSON.stringify(combined).length < 500_000);
    assert.equal(new Set(combined.map(({ tag_slug }) => tag_slug)).size, 101);
    assert.deepEqual(combine(combined), combined);
  });

  it('are limited in number, and unique by slug, URL and surface', () => {
    const finding = { tag_slug: 'a', detail: 'x'.repeat(5_000), url: '', surface: 'page' as const };
    const many = Array.from({ length: 1_000 }, (_, n) => ({ ...finding, detail: 'x', url: `https://x.example/${n}` }));
    const combined = combine([finding, { ...finding, detail: 'again' }, { ...finding, surface: 'creative' }, ...many]);
    assert.equal(combined.length, 200);
    assert.equal(combined[0]?.detail.length, 1_000);
    assert.equal(combined[1]?.surface, 'creative');
  });

  it('with the longest URLs are bounded together: each tag keeps its first, with the beginning of its URL', () => {
    const url = `https://x.example/${'x'.repeat(8_000)}`;
    const combined = combine(
      Array.from({ length: 200 }, (_, n) => ({ tag_slug: `rule_${n}`, detail: '', url, surface: 'page' as const })),
    );
    assert.equal(combined.length, 200);
    assert.ok(JSON.stringify(combined).length < 256 * 1024);
    assert.ok(combined.every((one) => url.startsWith(one.url) && one.url.length >= 500));
  });

  it('of one tag never displace those of others, whichever come first', () => {
    const many = (tag_slug: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        tag_slug,
        detail: '',
        url: `https://x.example/${n}`,
        surface: 'page' as const,
      }));
    const rules = Array.from({ length: 60 }, (_, n) => many(`rule_${n}`, 1)).flat();
    const slugs = combine([...many('malicious_script', 400), ...many('invalid_certificate', 300), ...rules]).map(
      ({ tag_slug }) => tag_slug,
    );
    assert.equal(slugs.length, 200);
    const counts = Map.groupBy(slugs, (slug) => slug);
    assert.deepEqual([counts.get('malicious_script')?.length, counts.get('invalid_certificate')?.length], [70, 70]);
    assert.equal(counts.size, 62);
  });

  it('§2.5.1 have a tag definition each', () => {
    const others = SYSTEM_TAGS.filter(({ category }) => category !== 'video');
    const severities = others.map(({ slug, category, severity }) => `${slug} ${category} ${severity}`);
    assert.deepEqual(severities, [
      'back_button behavior medium',
      'autosound behavior medium',
      'invalid_certificate security low',
      'exit_mismatch proxy medium',
      'ios_exploit_attempt security high',
      'ai_prohibited_content llm medium',
      'auto_redirect behavior high',
      'auto_download behavior high',
      'popup_bomb behavior high',
      'crypto_mining behavior high',
      'dialog_loop behavior medium',
      'fullscreen_lock behavior medium',
      'app_store_redirect behavior medium',
      'cpu_hog behavior medium',
      'hidden_ad ad_fraud medium',
      'stacked_ads ad_fraud medium',
      'pixel_stuffing ad_fraud medium',
      'clipboard_access privacy medium',
      'vibrate behavior low',
      'push_prompt behavior low',
      'fingerprinting privacy low',
      'heavy_ad behavior low',
      'scareware deception high',
      'phishing_form deception high',
      'malicious_script security high',
      'fake_system_dialog deception high',
      'fake_update deception high',
      'paste_to_run deception high',
      'push_lure deception medium',
      'forced_subscription deception medium',
      'creative_changed change low',
      'landing_changed change low',
      'creative_interactive behavior low',
      'creative_empty behavior low',
    ]);
    const tags = mergeDefinitions([]);
    assert.equal(tags.size, SYSTEM_TAGS.length);
    assert.equal(inService(tags, 'autosound')?.organization_id, null);
    assert.equal(inService(tags, 'unknown'), null);
  });
});

describe('§4.2.11 ignore_first_n_domains', () => {
  const chain = [
    'https://www.pub.example/a',
    'https://pub.example/b',
    'https://t.track.co.uk/c',
    'https://win.example/lp',
  ];
  const capture = captureOf(chain, {
    requests: [
      requestOf(1, { url: 'https://cdn.pub.example/x.js' }),
      requestOf(2, { url: 'https://win.example/y.js' }),
    ],
    observations: [observed('autosound', SOUND), observed('autosound', SOUND, 0, 'https://cdn.pub.example/frame')],
  });
  const seen = (count: number) => {
    const { landings, requests, observations } = withoutFirstDomains({ ...NO_EVIDENCE, ...capture }, count);
    return [
      landings[0]?.redirect_chain.map(({ url }) => new URL(url).hostname) ?? null,
      requests.length,
      observations.length,
    ];
  };

  it('changes nothing at 0', () => {
    assert.deepEqual(seen(0), [['www.pub.example', 'pub.example', 't.track.co.uk', 'win.example'], 2, 2]);
  });

  it('counts unique registrable domains from the entry point, www and bare as one', () => {
    assert.deepEqual(seen(1), [['t.track.co.uk', 'win.example'], 1, 1]);
    assert.deepEqual(seen(2), [['win.example'], 1, 1]);
  });

  it('removes a landing that ended on a skipped domain, with its evidence', () => {
    assert.deepEqual(seen(3), [null, 0, 0]);
    assert.deepEqual(seen(5), [null, 0, 0]);
  });

  it('does not change the capture itself', () => {
    assert.equal(capture.landings[0]?.redirect_chain.length, 4);
  });
});
