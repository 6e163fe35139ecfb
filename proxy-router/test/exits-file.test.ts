import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExitsFileError, parseExitsFile } from '../src/exits/exits-file.ts';
import { mappedAddress } from '../src/exits/host-mapping.ts';
import { exitIn } from './support/router.ts';

const problemsOf = (content: unknown): string[] => {
  try {
    parseExitsFile(typeof content === 'string' ? content : JSON.stringify(content), ['direct']);
  } catch (error) {
    assert.ok(error instanceof ExitsFileError);
    return error.problems;
  }
  return [];
};

test('an exits file may leave out places and hosts, and write countries in any letter case', () => {
  const { exits, hosts } = parseExitsFile(JSON.stringify({ exits: [exitIn('us')] }), ['direct']);
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
    '/exits/1/provider acme is unknown; known: direct',
    '/hosts/a b.example is not a name, *.name or name:port',
    '/hosts/shop.example leads to localhost:80, which is not ip:port',
    '/hosts/x.example leads to 127.0.0.1:99999, which is not ip:port',
    '/hosts/*.*.y is not a name, *.name or name:port',
  ]);
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
