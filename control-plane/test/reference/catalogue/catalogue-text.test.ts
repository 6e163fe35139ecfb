import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { catalogueText, parseCatalogue } from '../../../src/reference/catalogue/catalogue-text.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';

/** Names that would end a string, an object or the list for a careless reader. */
const HOSTILE = ['"', '\\', '\\"', '"}', '},{', ']}', '"pools":[', '{"country_code":"US"', '\\\\"}]', '\u2028', '💬'];

const hostile: Catalogue = {
  ...CATALOGUE,
  pools: HOSTILE.map((name) => ({
    ...{ ...CATALOGUE.pools[0]!, regions: [name, `${name}${name}`], cities: HOSTILE, isps: [] },
    cities_by_region: { [name]: HOSTILE, [`${name}${name}`]: [] },
  })),
};

test('a catalogue is read as it was written, whatever its names are and however it stands in the text', async () => {
  for (const catalogue of [CATALOGUE, hostile, { refreshed_at: null, pools: [] }]) {
    assert.deepEqual(await parseCatalogue(await catalogueText(catalogue)), catalogue);
    for (const indent of [0, 2]) {
      const text = JSON.stringify(catalogue, null, indent);
      assert.deepEqual(await parseCatalogue(text), catalogue);
    }
    const turned = JSON.stringify({ pools: catalogue.pools, refreshed_at: catalogue.refreshed_at });
    assert.deepEqual(await parseCatalogue(turned), catalogue);
  }
});

test('a text that is no catalogue, or not all of one, is refused', async () => {
  const text = JSON.stringify(hostile);
  const plain = JSON.stringify(CATALOGUE);
  const cuts = Array.from({ length: 60 }, (_, at) => text.slice(0, Math.floor((text.length * at) / 60)));
  const wrong = text.replace('"country_code":"', '"country_code":7,"x":"');
  for (const bad of [
    ...cuts,
    `${text}]`,
    wrong,
    plain.replace('},{', '};{'),
    plain.replace('}]}', '},]}'),
    '{"pools":[7]}',
    '{"pools":[{}]}',
    'null',
  ])
    await assert.rejects(parseCatalogue(bad), bad.slice(-40));
});

test('a large catalogue is parsed and written pool by pool', async (t) => {
  const pools = Array.from({ length: 50 }, () => hostile.pools).flat();
  const [parse, write] = [t.mock.method(JSON, 'parse'), t.mock.method(JSON, 'stringify')];
  const text = await catalogueText({ ...hostile, pools });
  assert.deepEqual((await parseCatalogue(text)).pools.length, pools.length);
  const parsed = parse.mock.calls.map((call) => String(call.arguments[0]).length);
  const written = write.mock.calls.map((call) => String(call.result ?? '').length);
  assert.ok(Math.max(...parsed, ...written) < text.length / 100);
});
