import assert from 'node:assert/strict';
import fs, { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExitsFileError, parseExitsFile } from '../src/exits/exits-file.ts';
import { mappedAddress } from '../src/exits/host-mapping.ts';
import { loadExits, versionsOf } from '../src/exits/load-exits.ts';
import { exitIn, temporaryFolder, vendorConfig } from './support/router.ts';

const problemsOf = (content: unknown): string[] => {
  try {
    parseExitsFile(typeof content === 'string' ? content : JSON.stringify(content), ['direct', 'list']);
  } catch (error) {
    assert.ok(error instanceof ExitsFileError);
    return error.problems;
  }
  return [];
};

test('an exits file may leave out places and hosts, and write countries in any letter case', () => {
  const { exits, hosts } = parseExitsFile(JSON.stringify({ exits: [exitIn('us')] }), ['direct', 'list']);
  assert.deepEqual([exits[0]?.country_code, hosts], ['US', {}]);
});

test('all problems of a shape are told at once', () => {
  const problems = problemsOf({
    exits: [
      { ...exitIn('US'), pool_size: 0, proxy_type: 'datacenter' },
      { id: 'b', colour: 'red' },
    ],
    host: {},
  }).join('\n');
  for (const place of ['/exits/0/pool_size', '/exits/0/proxy_type', '/exits/1', 'colour', 'country_code', 'host']) {
    assert.match(problems, new RegExp(place), place);
  }
});

test('all problems of the contents are told at once', () => {
  const problems = problemsOf({
    exits: [exitIn('US'), exitIn('US', { provider: 'acme' })],
    hosts: {
      'a b.example': '127.0.0.1:80',
      'shop.example': 'localhost:80',
      'x.example': '127.0.0.1:99999',
      '*.*.y': '[::1]:80',
    },
  });
  assert.deepEqual(problems, [
    '/exits/1/id direct-us is used twice',
    '/exits/1/provider acme is unknown; known: direct, list',
    '/hosts/a b.example is not a name, *.name or name:port',
    '/hosts/shop.example leads to localhost:80, which is not ip:port',
    '/hosts/x.example leads to 127.0.0.1:99999, which is not ip:port',
    '/hosts/*.*.y is not a name, *.name or name:port',
  ]);
});

test('an exit can say where it is, as a timezone that browsers know and as a whole place', () => {
  const place = { timezone: 'America/Chicago', latitude: 30.27, longitude: -97.74 };
  const { exits } = parseExitsFile(JSON.stringify({ exits: [exitIn('US', place)] }), ['direct', 'list']);
  assert.partialDeepStrictEqual(exits[0], place);
  assert.deepEqual(
    problemsOf({ exits: [exitIn('US', { timezone: '+02:00', latitude: 1 }), { ...exitIn('DE'), longitude: 181 }] }).map(
      (problem) => problem.split(' ').slice(0, 3).join(' '),
    ),
    ['/exits/1/longitude must be', '/exits/0/timezone +02:00 is', '/exits/0 has one'],
  );
});

test('invalid JSON is one problem', () => {
  assert.match(problemsOf('{ "exits": [')[0] ?? '', /^it is not valid JSON/);
});

test('a host is mapped by its own name before a wildcard, by its port before all ports', () => {
  const hosts = {
    'a.shop.test': '127.0.0.1:1',
    '*.shop.test': '127.0.0.1:2',
    '*.shop.test:443': '127.0.0.1:3',
    '*.b.shop.test': '127.0.0.1:4',
    'Shop.test:80': '[::1]:5',
  };
  const portFor = (host: string, port = 80) => mappedAddress(hosts, { host, port })?.port;
  assert.equal(portFor('a.shop.test', 443), 1);
  assert.equal(portFor('c.shop.test'), 2);
  assert.equal(portFor('x.y.shop.test', 443), 3);
  assert.equal(portFor('c.b.shop.test', 443), 4);
  assert.deepEqual(mappedAddress(hosts, { host: 'shop.test', port: 80 }), { host: '::1', port: 5 });
  assert.equal(portFor('shop.test', 443), undefined);
  assert.equal(portFor('eshop.test'), undefined);
  assert.equal(portFor('constructor'), undefined);
});

test('all problems of upstreams and providers are told at once, and no text of the file with them', () => {
  const problems = problemsOf({
    exits: [exitIn('US', { provider: 'list' }), exitIn('DE', { upstream: 'http://x' })],
    providers: [
      vendorConfig({ id: 'direct', endpoint: 'ftp://x', username: '{land}' }),
      vendorConfig({ id: 'b', endpoint: 'http://me:hunter2@x', password_file: 'also' }),
      vendorConfig({ id: 'b', kind: 'oxylabs', username: 'x[-{city}]' }),
    ],
  });
  assert.deepEqual(problems, [
    '/exits/0/upstream is not http://user:pass@host:port, https://... or socks5://...',
    '/exits/1/upstream belongs to the provider list',
    '/providers/0 endpoint is not http://host:port, https://host:port or socks5://host:port',
    '/providers/0 username: {land} is unknown; known: {country} {region} {city} {isp} {session} {proxy_type}',
    '/providers/0 id direct is used twice',
    '/providers/1 endpoint has credentials in it; they belong to username and password',
    '/providers/1 needs either password or password_file',
    '/providers/2 username is the name of the account; a pattern needs the kind template',
    '/providers/2 id b is used twice',
  ]);
  assert.doesNotMatch(problemsOf('{ "password": "hunter2" x').join(), /hunter2/);
  assert.deepEqual(problemsOf({ hosts: {} }), ['/exits is missing, and there are no /providers']);
});

test('a password file or a catalogue that cannot be used is named too, without what is in it', () => {
  const folder = temporaryFolder();
  const { password: _, ...account } = vendorConfig();
  const providers = [
    { ...account, id: 'a', password_file: 'none', catalogue: 'wrong.json' },
    { ...account, id: 'b', password_file: 'empty', catalogue: 'none.json' },
  ];
  writeFileSync(join(folder, 'exits.json'), JSON.stringify({ providers }));
  writeFileSync(join(folder, 'empty'), '\n');
  writeFileSync(join(folder, 'wrong.json'), JSON.stringify({ places: [{ ...exitIn('US'), pool_size: 0 }] }));
  const load = () => loadExits(join(folder, 'exits.json'), ['direct'], null);
  assert.throws(load, (error: ExitsFileError) => {
    assert.deepEqual(error.problems, [
      '/providers/0/password_file cannot be read: ENOENT',
      '/providers/0/catalogue /places/0/pool_size must be an integer of at least 1',
      '/providers/1/password_file is empty',
      '/providers/1/catalogue cannot be read: ENOENT',
    ]);
    return true;
  });
});

test('what a file leaves out is the base’s: exits where it has none, and the hosts that it does not map itself', () => {
  const base = { exits: [exitIn('SE')], hosts: { 'a.test': '127.0.0.1:1', 'b.test': '127.0.0.1:1' } };
  const parse = (content: object) => parseExitsFile(JSON.stringify(content), ['direct'], base);
  assert.deepEqual(parse({ hosts: { 'b.test': '127.0.0.1:2' } }), {
    exits: base.exits,
    providers: [],
    hosts: { 'a.test': '127.0.0.1:1', 'b.test': '127.0.0.1:2' },
  });
  assert.deepEqual(parse({ exits: [] }).exits, []);
  assert.deepEqual(parse({ providers: [vendorConfig()] }).exits, []);
});

test('what is wrong with the shape of a file hides nothing else that is wrong with it', () => {
  const folder = temporaryFolder();
  const content = {
    exits: [
      { ...exitIn('US', { provider: 'acme' }), pool_size: 0 },
      { ...exitIn('US', { provider: 'list', upstream: 'ftp://x' }), country_code: 'USA', colour: 'red' },
      'no exit',
    ],
    providers: [
      { ...vendorConfig({ endpoint: 'ftp://x', username: '{land}', catalogue: 'none.json' }), tickets_max: 0 },
      { id: 'vendor', kind: 'other', username: 5, catalogue: 7 },
    ],
    hosts: { 'a b.example': '127.0.0.1:80', 'x.example': 5 },
    host: {},
  };
  writeFileSync(join(folder, 'exits.json'), JSON.stringify(content));
  assert.throws(
    () => loadExits(join(folder, 'exits.json'), ['direct', 'list'], null),
    (error: ExitsFileError) => {
      const told = error.problems.join('\n');
      for (const problem of [
        /^\/exits\/0\/pool_size must be an integer of at least 1$/m,
        /^\/exits\/0\/provider acme is unknown/m,
        /^\/exits\/1\/country_code must match/m,
        /^\/exits\/1\/colour is not known here$/m,
        /^\/exits\/1\/upstream is not/m,
        /^\/exits\/1\/id direct-us is used twice$/m,
        /^\/exits\/2 must be an object$/m,
        /^\/providers\/0\/tickets_max must be an integer of at least 1$/m,
        /^\/providers\/0 endpoint is not/m,
        /^\/providers\/0 username: {land} is unknown/m,
        /^\/providers\/0\/catalogue cannot be read: ENOENT$/m,
        /^\/providers\/1\/kind /m,
        /^\/providers\/1\/username must be a string$/m,
        /^\/providers\/1\/endpoint is required$/m,
        /^\/providers\/1 id vendor is used twice$/m,
        /^\/providers\/1 needs either password or password_file$/m,
        /^\/hosts\/a b\.example is not a name/m,
        /^\/hosts\/x\.example must be a string$/m,
        /^\/host is not known here$/m,
      ])
        assert.match(told, problem);
      return true;
    },
  );
  for (const content of [null, [], 5, { exits: {} }, { providers: null }, { hosts: [] }])
    assert.ok(problemsOf(content ?? 'null').length > 0, JSON.stringify(content));
});

test('places in several countries need an account that tells the vendor the country', () => {
  const folder = temporaryFolder();
  const places = [exitIn('US'), exitIn('DE')].map(({ country_code, proxy_type, pool_size }) => ({
    country_code,
    proxy_type,
    pool_size,
  }));
  writeFileSync(join(folder, 'places.json'), JSON.stringify({ places }));
  writeFileSync(join(folder, 'one.json'), JSON.stringify({ places: places.slice(0, 1) }));
  const load = (more: object) => {
    writeFileSync(join(folder, 'exits.json'), JSON.stringify({ providers: [vendorConfig(more)] }));
    return loadExits(join(folder, 'exits.json'), ['direct'], null);
  };
  assert.throws(() => load({ username: 'cust-42-s-{session}' }), {
    problems: ['/providers/0/catalogue has several countries, and username has no {country}'],
  });
  assert.equal(load({ username: 'cust-42-cc-us', catalogue: 'one.json' }).vendors.length, 1);
  assert.equal(load({ username: 'cust-42', kind: 'netnut' }).vendors.length, 1);
});

test('a password file that is replaced right after it was read is read again', (t) => {
  const folder = temporaryFolder();
  const [path, password] = [join(folder, 'exits.json'), join(folder, 'password')];
  const catalogue = join(folder, 'places.json');
  writeFileSync(catalogue, '{ "places": [] }');
  writeFileSync(password, 'begun');
  const account = { ...vendorConfig({ catalogue, password_file: 'password' }), password: undefined };
  writeFileSync(path, JSON.stringify({ providers: [account] }));
  const read = fs.readFileSync;
  t.after(syncBuiltinESMExports);
  const replacing = t.mock.method(fs, 'readFileSync', (...asked: Parameters<typeof read>) => {
    const content = read(...asked);
    if (asked[0] === password) writeFileSync(password, 'the whole password');
    return content;
  });
  syncBuiltinESMExports();
  const loaded = loadExits(path, ['direct'], null);
  assert.equal(replacing.mock.callCount() > 0 && loaded.vendors[0]?.password, 'begun');
  assert.notEqual(versionsOf(path, loaded.file), loaded.versions);
});
