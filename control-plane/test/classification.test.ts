import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import thirdParties from 'third-party-web/nostats-subset.js';
import { brandOf } from '../src/analysis/classification/brand.ts';
import { classify } from '../src/analysis/classification/classify.ts';
import { NOT_AD_SERVERS, networkOf } from '../src/analysis/classification/network-name.ts';
import { captureOf } from './support/running-farm.ts';

describe('the brand of a landing', () => {
  const brand = (final_url: string, site_name = '') => brandOf({ site_name, final_url });

  it('is the name that the site gives itself', () => {
    assert.equal(brand('https://www.x.example/', '  Acme\n  Shoes '), 'Acme Shoes');
    assert.equal(brand('https://www.x.example/', 'é\u202e\u0000Ω'), 'é Ω');
    assert.equal(brand('https://www.x.example/', 'A'.repeat(500))?.length, 100);
  });

  it('is else the registrable domain made readable', () => {
    assert.equal(brand('https://www.best-offers.co.uk/x'), 'Best Offers');
    assert.equal(brand('https://m.bbc.com/'), 'BBC');
    assert.equal(brand('https://xn--bcher-kva.example/'), 'Bücher');
    assert.equal(brand('https://shop.example/', ' — '), 'Shop');
  });

  it('is nothing where nothing sensible can be said', () => {
    for (const url of [
      'https://192.0.2.7/',
      'https://[2001:db8::1]/',
      'about:blank',
      'chrome-error://chromewebdata/',
      '',
      'https://localhost/',
    ])
      assert.equal(brand(url), null, url);
  });

  it('is that of the first landing that is judged', () => {
    const [first, second] = [
      captureOf(['https://one.example/']).landings[0]!,
      captureOf(['https://two.example/']).landings[0]!,
    ];
    assert.equal(classify([{ ...second, ord: 1 }, first], []).brand, 'ONE');
    assert.equal(classify([], [first]).brand, null);
  });
});

describe('§2.1 network and network_host', () => {
  const landing = 'https://shop.example/';

  it('name the first ad server on the way to the landing', () => {
    const chain = [
      'https://news.example/',
      'https://ad.doubleclick.net/ddm/clk/1',
      'https://cat.fr.criteo.com/x',
      landing,
    ];
    assert.deepEqual(networkOf(chain), { network: 'Google/Doubleclick Ads', network_host: 'ad.doubleclick.net' });
  });

  it('are empty for infrastructure that is not an ad network, and for unknown hosts', () => {
    const hosts = [
      'www.googletagmanager.com',
      'www.google-analytics.com',
      'cdn.adsafeprotected.com',
      'tags.bluekai.com',
      'cdn.jsdelivr.net',
      'creatives.pub.example',
    ];
    for (const host of hosts)
      assert.deepEqual(networkOf([`https://${host}/x`, landing]), { network: '', network_host: '' }, host);
  });

  it('do not count the landing itself', () => {
    assert.equal(networkOf(['https://www.criteo.com/']).network, '');
    assert.equal(networkOf([]).network, '');
  });

  it('know each company that is left out', () => {
    const names = new Set(thirdParties.entities.filter(({ category }) => category === 'ad').map(({ name }) => name));
    assert.deepEqual(
      [...NOT_AD_SERVERS].filter((name) => !names.has(name)),
      [],
    );
  });
});
