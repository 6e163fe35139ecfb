import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adNetworkName } from '@adsweep/shared/ads/ad-companies.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { type Box, expectedFacts, type FoundBlock, foundFacts } from '../discovery/block-facts.ts';
import { adAt, NETWORKS, type PublisherPage, popOf } from '../discovery/publisher-page.ts';
import { PUBLISHER_PAGES } from '../discovery/registry.ts';

describe('the pages of the corpus of discovery', () => {
  const withAds = PUBLISHER_PAGES.filter(({ ads }) => ads.length > 0);

  it('are at least 40 with ads and ten that only look like it, each with a name of its own', () => {
    assert.ok(withAds.length >= 40, `${withAds.length} pages have ads`);
    assert.ok(PUBLISHER_PAGES.filter(({ subject }) => subject === 'look_alikes').length >= 10);
    assert.equal(new Set(PUBLISHER_PAGES.map(({ name }) => name)).size, PUBLISHER_PAGES.length);
  });

  it('have ad units of their own, because all pages share the ad servers', () => {
    const units = PUBLISHER_PAGES.flatMap(({ units: own = {} }) => Object.keys(own));
    assert.equal(new Set(units).size, units.length);
  });

  it('expect pops first, and landings of other registrable domains than the publisher’s', () => {
    for (const { name, ads } of withAds) {
      const kinds = ads.map(({ kind }) => (kind === 'pop' ? 0 : 1));
      assert.deepEqual(kinds, kinds.toSorted(), name);
      for (const { landing } of ads) {
        assert.equal(registrableDomain(landing), landing, name);
        assert.notEqual(landing, `${name}.example`);
      }
    }
  });

  it('name networks as their hosts are named by the table of companies', () => {
    for (const { network, hosts } of Object.values(NETWORKS))
      for (const host of hosts) assert.equal(adNetworkName(`https://${host}/`) ?? '', network, host);
  });
});

describe('the score of a page', () => {
  const page = {
    subject: 's',
    name: 'n',
    html: '',
    ads: [popOf('popads', 'pop.example'), adAt('#a', [300, 250], 'criteo', 'shop.example')],
  } satisfies PublisherPage;
  const boxes: (Box | null)[] = [null, { x: 10, y: 20, width: 300, height: 250 }];
  const pop: FoundBlock = {
    ...{ slot_index: 0, ad_kind: 'pop', network: 'Popads', network_host: '', landing: 'pop.example' },
    ...{ x: 0, y: 0, width: 0, height: 0 },
  };
  const banner: FoundBlock = {
    ...{ slot_index: 1, ad_kind: 'banner', network: 'Criteo', network_host: 'ads.eu.criteo.com' },
    ...{ x: 13, y: 18, width: 300, height: 250, landing: 'shop.example' },
  };
  const factsOf = (...found: FoundBlock[]) => foundFacts(page.ads, boxes, found);

  it('is full when kind, order, place, network and landing are as expected', () => {
    assert.deepEqual(factsOf(pop, banner), expectedFacts(page, true));
  });

  it('names what differs: order, place beyond 4 px, network host, landing', () => {
    const moved = { ...banner, x: 15, slot_index: 2, network_host: 'cdn.criteo.com', landing: 'other.example' };
    const wrong = factsOf(pop, moved).filter((fact) => !expectedFacts(page, true).includes(fact));
    assert.deepEqual(wrong, [
      '1 at index 2',
      '1 at 15,18 300x250, not 10,20 300x250',
      '1 host cdn.criteo.com',
      '1 leads to other.example',
    ]);
  });

  it('counts a block without an ad, and a second block of the same ad, as found in vain', () => {
    const extra = factsOf(pop, banner, { ...banner, slot_index: 2 }).at(-1);
    assert.equal(extra, 'no ad: banner at 13,18 300x250 of ads.eu.criteo.com');
    assert.deepEqual(factsOf(pop), expectedFacts(page, true).slice(0, 6));
  });

  it('expects no landing of an ad beyond the cap', () => {
    const capped = expectedFacts({ ...page, maxAds: 1 }, true);
    assert.ok(capped.includes('1 leads to nothing, cap'));
  });
});
