import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { alertsEntry } from '../../../src/analysis/policies/alerts-entry.ts';
import { type PolicyValue, violationsOf } from '../../../src/analysis/policies/policy.ts';
import { entryOf } from '../../../src/analysis/policies/policy-set.ts';
import { previewPolicy } from '../../../src/analysis/policies/preview.ts';
import { mergeDefinitions, type TagDefinition } from '../../../src/reference/tags/tag-definitions.ts';
import type { Classification, Tiers } from '../../../src/scan/scan.ts';
import { sampleScan, sampleTag } from '../../support/sample-scan.ts';
import { turnsOf } from '../../support/turns-of.ts';

const TAGS = mergeDefinitions([]);
const path = (tier1: string, tier2: string | null = null, tier3: string | null = null): Tiers => {
  return { tier1, tier2, tier3, tier4: null };
};
const NOTHING: Classification = { brand: null, ai_category: null, iab_v3: null, custom_taxonomies: [] };

/** What a scan violates of a set with one entry: the key of each violation and what it matched. */
function found(value: PolicyValue, classification: Partial<Classification>, country = 'US', countries: string[] = []) {
  const judged = {
    country_code: country,
    classification: { ...NOTHING, ...classification },
    tag_slugs: new Set(['autosound']),
  };
  return violationsOf([entryOf('set', value, countries)], judged, TAGS).map(
    ({ tag_slug, matched_value }) => `${tag_slug}=${matched_value}`,
  );
}

describe('what a scan violates', () => {
  test('§2.8.28 an entry with tiers fits every path that begins with them, in any letter case, and no other', () => {
    const games = (...tiers: Parameters<typeof path>): PolicyValue => {
      return { rule_type: 'ai_category', ai_category: path(...tiers) };
    };
    const judged = { ai_category: path('Games', 'Casino', 'Slots') };
    assert.deepEqual(found(games('games'), judged), ['ai_category:games=Games > Casino > Slots']);
    assert.deepEqual(found(games('Games', 'CASINO', 'Slots'), judged), [
      'ai_category:Games > CASINO > Slots=Games > Casino > Slots',
    ]);
    for (const other of [games('Game'), games('Games', 'Cards'), games('Casino')])
      assert.deepEqual(found(other, judged), []);
    assert.deepEqual(found(games('Games', 'Casino'), { ai_category: path('Games') }), []);
    assert.deepEqual(found(games('Games'), {}), []);
    const iab: PolicyValue = { rule_type: 'iab_v3', iab_v3: { id: '1', ...path('Automotive') } };
    assert.deepEqual(found(iab, { iab_v3: { id: '2', ...path('Automotive', 'Auto Body Styles') } }), [
      'iab_v3:1=Automotive > Auto Body Styles',
    ]);
  });

  test('§2.8.28 a brand fits the same name in any letter case, and no part of it; its key has no comma', () => {
    const brand = (name: string): PolicyValue => ({ rule_type: 'brand', brand: name });
    assert.deepEqual(found(brand('acme, inc'), { brand: 'ACME, Inc' }), ['brand:acme inc=ACME, Inc']);
    assert.equal(found(brand('Nestlé'), { brand: 'Nestlé'.normalize('NFD') }).length, 1);
    for (const [entry, title] of [
      ['Türkiye İş Bankası', 'TÜRKİYE İŞ BANKASI'],
      ['Weiß', 'WEISS'],
      ['ΣΊΣΥΦΟΣ', 'Σίσυφος'],
    ])
      assert.equal(found(brand(entry!), { brand: title! }).length, 1, title);
    assert.deepEqual(found(brand('Acme'), { brand: 'Acme Shoes' }), []);
    assert.deepEqual(found(brand('Acme Shoes'), { brand: 'Acme' }), []);
  });

  test('§2.8.28 an entry of a taxonomy fits a category of this taxonomy, and its key has the slug of it', () => {
    const taxonomy = { taxonomy_id: 'one', taxonomy_slug: 'shops', taxonomy_name: 'Shops', ...path('Shoes', 'Boots') };
    const entry = (taxonomy_id: string): PolicyValue => {
      return { rule_type: 'custom_taxonomy', custom_taxonomy: { taxonomy_id, ...path('Shoes') } };
    };
    const judged = { custom_taxonomies: [taxonomy] } as unknown as Partial<Classification>;
    assert.deepEqual(found(entry('one'), judged), ['custom_taxonomy:shops:Shoes=Shoes > Boots']);
    assert.deepEqual(found(entry('two'), judged), []);
  });

  test('§2.8.28 an entry with countries fits scans of these alone, one without every scan', () => {
    const tag: PolicyValue = { rule_type: 'tag', tag_slug: 'autosound' };
    assert.deepEqual(found(tag, {}, 'AQ'), ['autosound=null']);
    assert.deepEqual(found(tag, {}, 'AQ', ['AQ', 'US']), ['autosound=null']);
    assert.deepEqual(found(tag, {}, 'DE', ['AQ', 'US']), []);
  });

  test('§2.5.1 an archived tag raises no alert, whatever scan has it', () => {
    const archived = (at: Date | null): TagDefinition => ({ ...TAGS.get('autosound')!, archived_at: at });
    const judged = { country_code: 'US', classification: null, tag_slugs: new Set(['autosound']) };
    const entries = [entryOf('set', { rule_type: 'tag', tag_slug: 'autosound' }, [])];
    const violations = (tag: TagDefinition) => violationsOf(entries, judged, new Map([['autosound', tag]]));
    assert.equal(violations(archived(null)).length, 1);
    assert.equal(violations(archived(new Date())).length, 0);
  });

  test('§2.8.29 the alerts of a scan have the URL of its target, and none for tags', () => {
    const policy = {
      id: 'set',
      name: 'Set',
      entries: [entryOf('set', { rule_type: 'tag', tag_slug: 'autosound' }, [])],
    };
    const scan = sampleScan({ campaign_id: 'campaign', tags: [sampleTag('autosound', '')] });
    const urlOf = (target: typeof scan.target) =>
      alertsEntry(policy, { ...scan, target }, TAGS, new Date())!.scan.scan_url;
    assert.equal(urlOf({ kind: 'url', value: 'https://shop.example/' }), 'https://shop.example/');
    assert.equal(urlOf({ kind: 'ad_tag', value: 'https://ads.example/tag' }), '');
    assert.equal(urlOf({ kind: 'vast_tag', value: 'https://ads.example/vast' }), '');
    assert.equal(alertsEntry(policy, { ...scan, campaign_id: null }, TAGS, new Date()), null);
  });
});

test('a preview compares the entries with one scan after the other, with pauses', async () => {
  const rows = Array.from({ length: 50 }, () => ({ ...sampleScan(), tags: [{ tag_slug: 'autosound' }] }));
  const judgedSince = async () => ({ rows, last: null });
  const entries = [entryOf('set', { rule_type: 'tag', tag_slug: 'autosound' }, [])];
  let alerts = 0;
  const turns = await turnsOf(async () => {
    const of = { entries, tags: TAGS, since: new Date(0), campaigns: null };
    alerts = (await previewPolicy({ judgedSince }, 'organization', of)).alerts;
  });
  assert.equal(alerts, 50);
  assert.ok(turns >= 50, `${turns} turns of the event loop`);
});
