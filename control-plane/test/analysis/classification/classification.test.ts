import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOT_AD_SERVERS } from '@adsweep/shared/ads/ad-companies.ts';
import thirdParties from 'third-party-web/nostats-subset.js';
import { brandOf } from '../../../src/analysis/classification/brand.ts';
import { IAB_CATEGORIES, iabTiers } from '../../../src/analysis/classification/categories.ts';
import { classify } from '../../../src/analysis/classification/classify.ts';
import { networkOf, unnamedAdServer } from '../../../src/analysis/classification/network-name.ts';
import { captureOf } from '../../support/running-farm.ts';

describe('§2.1.14 the brand of a landing', () => {
  const brand = (final_url: string, site_name = '', html = '', page_title = '') =>
    brandOf({ site_name, final_url, html, page_title });
  const jsonLd = (value: unknown) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;

  it('is the name that the site gives itself', () => {
    assert.equal(brand('https://www.x.example/', '  Acme\n  Shoes '), 'Acme Shoes');
    assert.equal(brand('https://www.x.example/', 'é\u202e\u0000Ω'), 'é Ω');
    assert.equal(brand('https://www.x.example/', 'A'.repeat(500))?.length, 100);
  });

  it('is read from the stored HTML: OpenGraph, then JSON-LD of the operator of the site', () => {
    const at = 'https://x.example/';
    const openGraph = '<head><META property="og:site_name" content="Acme &amp; Sons"></head>';
    const site = {
      '@graph': [
        { '@type': 'Product', name: 'Boots' },
        { '@type': ['Thing', 'WebSite'], name: 'Acme web' },
      ],
    };
    assert.equal(brand(at, '', openGraph + jsonLd(site)), 'Acme & Sons');
    assert.equal(brand(at, 'Seen', jsonLd(site)), 'Seen');
    assert.equal(brand(at, '', jsonLd(site)), 'Acme web');
    assert.equal(brand(at, '', jsonLd([site, { '@type': 'Organization', name: 'Acme Ltd' }])), 'Acme Ltd');
    const product = { '@type': 'Product', name: 'Boots', brand: { '@type': 'Brand', name: 'Acme' } };
    assert.equal(brand(at, '', jsonLd(product)), 'Acme');
  });

  it('is not taken from text that only looks like markup, and hostile markup takes linear time', () => {
    const at = 'https://shop.example/';
    const html = `<!-- <meta property="og:site_name" content="Hidden"> --><textarea><meta property="og:site_name" content="Text"></textarea>`;
    assert.equal(brand(at, '', html), 'Shop');
    assert.equal(brand(at, '', '<script type="application/ld+json">{"@type":"WebSite","name":'), 'Shop');
    assert.equal(brand(at, '', jsonLd({ '@type': 'WebSite', name: ['a'] })), 'Shop');
    const deep = `<script type="application/ld+json">${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}</script>`.repeat(40);
    assert.equal(brand(at, '', `${'<div><meta '.repeat(100_000)}${deep}`), 'Shop');
  });

  it('is otherwise the part of the title that spells the domain', () => {
    assert.equal(brand('https://www.acmeshoes.example/x', '', '', 'Winter sale | Acme Shoes'), 'Acme Shoes');
    assert.equal(brand('https://acme-shoes.example/', '', '', 'AcmeShoes – Boots - all sizes'), 'AcmeShoes');
    assert.equal(brand('https://acme-shoes.example/', '', '', 'Another brand | Boots'), 'Acme Shoes');
  });

  it('is otherwise the readable registrable domain', () => {
    assert.equal(brand('https://www.best-offers.co.uk/x'), 'Best Offers');
    assert.equal(brand('https://m.bbc.com/'), 'BBC');
    assert.equal(brand('https://xn--bcher-kva.example/'), 'Bücher');
    assert.equal(brand('https://shop.example/', ' — '), 'Shop');
  });

  it('is null if nothing names a brand', () => {
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

  it('is that of the first landing without skipped domains', () => {
    const [first, second] = [
      captureOf(['https://one.example/']).landings[0]!,
      captureOf(['https://two.example/']).landings[0]!,
    ];
    const documents = [
      {
        ...{ landing: 1, frame: '', url: '', title: '', text: '' },
        html: '<meta property="og:site_name" content="Two">',
      },
      {
        ...{ landing: 0, frame: 'f', url: '', title: '', text: '' },
        html: '<meta property="og:site_name" content="Ad">',
      },
    ];
    assert.equal(classify({ judged: [{ ...second, ord: 1 }, first], captured: [], documents }).brand, 'ONE');
    assert.equal(classify({ judged: [{ ...second, ord: 1 }], captured: [], documents }).brand, 'Two');
    assert.equal(classify({ judged: [], captured: [first] }).brand, null);
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

  it('§2.1.1 name header bidders that the list of companies does not know', () => {
    assert.deepEqual(networkOf(['https://bidder.ablida.net/prebid', landing]), {
      network: 'ablida',
      network_host: 'bidder.ablida.net',
    });
    assert.equal(networkOf(['https://eu.prebid.adbro.me/x', landing]).network, 'adbro');
    assert.equal(networkOf(['https://ablida.net.shop.example/prebid', landing]).network, '');
  });

  it("§2.1.1 are empty for what the publisher's own domain serves", () => {
    const urls = ['https://static.criteo.net/creative.jpg', landing];
    assert.equal(networkOf(urls, 'https://news.example/').network, 'Criteo');
    assert.deepEqual(networkOf(urls, 'https://www.criteo.net/'), { network: '', network_host: '' });
  });

  it("§2.1.1 are empty for a creative that another domain of the publisher's company serves", () => {
    const none = { network: '', network_host: '' };
    const urls = ['https://i.ebayimg.com/creative.jpg', landing];
    assert.equal(networkOf(urls, 'https://news.example/').network, 'eBay');
    assert.deepEqual(networkOf(urls, 'https://www.ebay.com/itm/1'), none);
    const creative = ['https://static.xx.fbcdn.net/ad.js', 'https://cdn.other.example/ad.js'];
    assert.equal(unnamedAdServer(creative, ['https://www.facebook.com/']).network_host, 'cdn.other.example');
    assert.equal(
      networkOf(['https://ad.doubleclick.net/a', landing], 'https://www.youtube.com/').network_host,
      'ad.doubleclick.net',
    );
  });

  it('do not count the landing itself', () => {
    assert.equal(networkOf(['https://www.criteo.com/']).network, '');
    assert.equal(networkOf([]).network, '');
  });

  it('exclude only companies that the list knows', () => {
    const names = new Set(thirdParties.entities.filter(({ category }) => category === 'ad').map(({ name }) => name));
    assert.deepEqual(
      [...NOT_AD_SERVERS].filter((name) => !names.has(name)),
      [],
    );
  });
});

describe('the table of the IAB Content Taxonomy 3.0', () => {
  it('has tiers for each of its ids, and none for an unknown id', () => {
    assert.equal(IAB_CATEGORIES.length, 703);
    assert.deepEqual(iabTiers('181'), {
      ...{ id: '181', tier1: 'Attractions', tier2: 'Casinos & Gambling', tier3: null, tier4: null },
    });
    assert.deepEqual(iabTiers('340')?.tier4, 'Soft AC Music');
    assert.equal(iabTiers('no such id'), null);
  });

  it('has each path once, with every path above it', () => {
    const paths = IAB_CATEGORIES.map(({ path }) => path.join(' / '));
    assert.equal(new Set(paths).size, paths.length);
    for (const { path } of IAB_CATEGORIES)
      assert.ok(path.length === 1 || paths.includes(path.slice(0, -1).join(' / ')), path.join(' / '));
  });
});
