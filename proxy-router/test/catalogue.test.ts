import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Catalogue, type CatalogueTimes, CatalogueTimesSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { Value } from 'typebox/value';
import { until } from '../../shared/test/support/until.ts';
import { buildPools, catalogueJson, type PlaceSource } from '../src/exits/build-catalogue.ts';
import { ExitSource } from '../src/exits/exit-source.ts';
import { parseExitsFile } from '../src/exits/exits-file.ts';
import { listProvider } from '../src/providers/dial-upstream.ts';
import type { ListedExit } from '../src/providers/exit.ts';
import { type CatalogueError, readCatalogue } from '../src/providers/read-catalogue.ts';
import { closedProvider, exitIn, logger, startTestRouter, temporaryFolder } from './support/router.ts';

const read = (json: Buffer): Catalogue => JSON.parse(String(json));

const exits = [
  exitIn('US', { id: '1', region: 'Texas', city: 'Austin', isp: 'Acme', pool_size: 10 }),
  exitIn('US', { id: '2', region: 'Ohio', city: 'Dayton', isp: 'Bell', pool_size: 30 }),
  exitIn('US', { id: '3', region: 'texas', city: 'Dallas', isp: 'acme', pool_size: 25 }),
  exitIn('US', { id: '4', region: 'Texas', city: 'Waco', pool_size: 1 }),
  exitIn('US', { id: '5', region: 'Texas', city: 'Abilene', pool_size: 1 }),
  exitIn('US', { id: '6', proxy_type: 'mobile', isp: 'Cell' }),
  exitIn('DE', { id: '7' }),
];

test('§2.3.1 a pool’s values are ordered by size, largest first, and told apart without letter case', () => {
  const pools = buildPools([{ places: exits, refreshedAt: new Date(0) }]);
  const us = pools.find((pool) => pool.country_code === 'US' && pool.proxy_type === 'residential');
  assert.deepEqual(us?.regions, ['Texas', 'Ohio']);
  assert.deepEqual(us?.cities, ['Dayton', 'Dallas', 'Austin', 'Abilene', 'Waco']);
  assert.deepEqual(us?.isps, ['Acme', 'Bell']);
  assert.deepEqual(us?.cities_by_region, { Texas: ['Dallas', 'Austin', 'Abilene', 'Waco'], Ohio: ['Dayton'] });
});

test('§4.1.4 residential and mobile pools are apart, and a pool without places has empty lists', () => {
  const pools = buildPools([{ places: exits, refreshedAt: new Date(0) }]);
  assert.deepEqual(
    pools.map(({ country_code, proxy_type, isps }) => [country_code, proxy_type, isps]),
    [
      ['DE', 'residential', []],
      ['US', 'mobile', ['Cell']],
      ['US', 'residential', ['Acme', 'Bell']],
    ],
  );
});

function sourceIn(folder: string, log = logger): ExitSource {
  const file = join(folder, 'exits.json');
  return new ExitSource(
    {
      file,
      base: null,
      snapshot: join(folder, 'data', 'exits-snapshot.json'),
      catalogueSnapshot: join(folder, 'data', 'catalogues-snapshot.json'),
      catalogueRefreshMs: 60_000,
      fetchCatalogue: () => Promise.reject(new Error('this test fetches nothing')),
      providers: { direct: closedProvider(), list: listProvider },
      reconnected: () => {},
    },
    log,
  );
}

const write = (folder: string, listed: ListedExit[]) =>
  writeFileSync(join(folder, 'exits.json'), JSON.stringify({ exits: listed }));

test('a start without the exits file takes the snapshot of it, with its age', () => {
  const folder = temporaryFolder();
  write(folder, exits);
  const before = read(sourceIn(folder).catalogueJson());
  rmSync(join(folder, 'exits.json'));
  assert.deepEqual(read(sourceIn(folder).catalogueJson()), before);
});

test('a start with neither file nor usable snapshot fails', () => {
  const folder = temporaryFolder();
  assert.throws(() => sourceIn(folder), /neither .*exits.json nor a snapshot/);
  write(folder, exits);
  sourceIn(folder);
  rmSync(join(folder, 'exits.json'));
  writeFileSync(join(folder, 'data', 'exits-snapshot.json'), '{ "refreshed_at": "20');
  assert.throws(() => sourceIn(folder), /neither .*exits.json nor a snapshot/);
});

test('§4.1.6 refreshed_at moves with every look at the file, the contents only with the file', async (t) => {
  const router = await startTestRouter(t);
  const catalogue = async () => (await (await router.call('GET', '/catalogue')).json()) as Catalogue;
  const first = await catalogue();
  await until('another look at the file', async () => (await catalogue()).refreshed_at! > first.refreshed_at!);
  const contents = ({ pools }: Catalogue) => pools.map(({ refreshed_at: _, ...lists }) => lists);
  assert.deepEqual(contents(await catalogue()), contents(first));
  writeFileSync(router.file, JSON.stringify({ exits }));
  await until('the changed exits', async () => (await catalogue()).pools.length === 3);
});

test('the times of the catalogue can be read without its lists, whose version tells when they change', async (t) => {
  const router = await startTestRouter(t);
  const read = async <T>(path: string) => (await (await router.call('GET', path)).json()) as T;
  const times = () => read<CatalogueTimes>('/catalogue/times');
  const first = await times();
  assert.ok(Value.Check(CatalogueTimesSchema, first));
  await until('another look at the file', async () => (await times()).refreshed_at! > first.refreshed_at!);
  const [{ version, countries }, { pools }] = [await times(), await read<Catalogue>('/catalogue')];
  assert.equal(version, first.version);
  assert.equal((await router.call('GET', '/catalogue')).headers.get('etag'), JSON.stringify(version));
  assert.deepEqual(Object.keys(countries).sort(), [...new Set(pools.map(({ country_code }) => country_code))].sort());
  writeFileSync(router.file, JSON.stringify({ exits }));
  await until('the changed exits', async () => (await times()).version !== version);
});

test('§2.3.3 a country’s time is that of the last provider that was read; without all read, who serves nobody is not known', () => {
  const sources = [
    { places: [exitIn('US'), exitIn('DE')], refreshedAt: new Date(1_000) },
    { places: [exitIn('US')], refreshedAt: new Date(2_000) },
  ];
  const times = (all: PlaceSource[]) => {
    const { pools, refreshed_at } = read(catalogueJson(buildPools(all), all));
    return [...pools.map((pool) => `${pool.country_code} ${Date.parse(pool.refreshed_at)}`), refreshed_at];
  };
  assert.deepEqual(times(sources), ['DE 1000', 'US 2000', '1970-01-01T00:00:02.000Z']);
  assert.deepEqual(times([...sources, { places: [], refreshedAt: null }]), ['DE 1000', 'US 2000', null]);
});

test('a file that becomes unusable, or goes away, leaves the last good one in use', () => {
  const folder = temporaryFolder();
  write(folder, exits);
  const source = sourceIn(folder);
  const before = read(source.catalogueJson());
  writeFileSync(join(folder, 'exits.json'), '{');
  source.refresh();
  assert.deepEqual(read(source.catalogueJson()), before);
  rmSync(join(folder, 'exits.json'));
  source.refresh();
  assert.deepEqual(read(source.catalogueJson()), before);
  write(folder, [exitIn('FR')]);
  source.refresh();
  assert.deepEqual(
    read(source.catalogueJson()).pools.map(({ country_code }) => country_code),
    ['FR'],
  );
});

test('a file that stays unusable is reported once, and again when its problem changes', () => {
  const folder = temporaryFolder();
  write(folder, exits);
  const errors: unknown[] = [];
  const log = { ...logger, info: () => {}, error: (told: unknown) => errors.push(told) } as unknown as typeof logger;
  const source = sourceIn(folder, log);
  for (const text of ['{', '{', '{}']) {
    writeFileSync(join(folder, 'exits.json'), text);
    source.refresh();
    source.refresh();
  }
  assert.equal(errors.length, 2);
});

test('the built-in exits are usable and cover many countries in both pools', () => {
  const text = readFileSync(new URL('../exits.default.json', import.meta.url), 'utf8');
  const pools = buildPools([{ places: parseExitsFile(text, ['direct']).exits, refreshedAt: new Date() }]);
  for (const country of ['US', 'GB', 'DE', 'FR', 'ES', 'IT', 'NL', 'PL', 'BR', 'IN', 'JP', 'AU']) {
    assert.equal(pools.filter(({ country_code }) => country_code === country).length, 2, country);
  }
});

test('of a catalogue with many places, the first wrong ones are named by their position', () => {
  const good = { country_code: 'us', proxy_type: 'residential', city: null, pool_size: 1 };
  const problemsOf = (source: unknown) => {
    try {
      return readCatalogue(JSON.stringify(source)).length;
    } catch (error) {
      return (error as CatalogueError).problems;
    }
  };
  assert.equal(problemsOf({ places: [good, good] }), 2);
  assert.deepEqual(problemsOf({ places: [good, good, { ...good, pool_size: 0 }, good] }), [
    '/places/2/pool_size must be an integer of at least 1',
  ]);
  assert.deepEqual((problemsOf({ places: Array(9).fill({ ...good, pool_size: 0 }) }) as string[]).length, 5);
  assert.deepEqual(problemsOf({ places: 7 }), ['/places must be a list']);
  assert.deepEqual(problemsOf(null), ['/ must be an object']);
});
