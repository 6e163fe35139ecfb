import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { canonicalHost, isPublicAddress, isPublicHost } from '@adsweep/shared/urls/public-host.ts';
import { corpusData } from './support/corpus-data.ts';

const observed = corpusData('url/private-host-urls.json');

test('an address of a special-purpose block is not public, in either family', () => {
  const refused = [
    '0.0.0.0',
    '0.255.255.255',
    '10.1.2.3',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '64:ff9b:1::a00:1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'ff02::1',
    'no address',
    '',
  ];
  assert.deepEqual(
    refused.filter((address) => isPublicAddress(address)),
    [],
  );
});

test('an address just outside the special blocks is public', () => {
  const taken = [
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '172.15.0.1',
  ]
    .concat(['172.32.0.1', '192.0.1.1', '198.17.255.255', '198.20.0.0', '223.255.255.255'])
    .concat(['2001:4860:4860::8888', '2606:4700::1111', '2a00:1450::1']);
  assert.deepEqual(
    taken.filter((address) => !isPublicAddress(address)),
    [],
  );
});

test('§4.2.15 a literal of a private address is refused in every spelling that a URL or a CONNECT can hold', () => {
  const refused = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
  ]
    .concat(['[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::10.0.0.1]', '[fe80::1]'])
    .concat(['%31%32%37.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '0', '0.0.0.0', '3232235777', '0xA9FEA9FE']);
  assert.deepEqual(refused.filter(isPublicHost), []);
});

test('§4.2.15 a name of this machine, this network or a metadata service is refused', () => {
  const refused = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'printer.local',
    'db.internal',
    'nas.home.arpa',
  ]
    .concat([
      'localhost.localdomain',
      'intranet',
      'metadata',
      'metadata.google.internal',
      'Metadata.goog',
      'metadata.goog.',
    ])
    .concat([
      '',
      '.',
      '..',
      'a b.example',
      'user@shop.example',
      'shop.example:80',
      'shop.example/x',
      '[::1',
      '10.0.0.256',
    ]);
  assert.deepEqual(refused.filter(isPublicHost), []);
});

test('§4.2.15 an ordinary name or a public literal is taken', () => {
  const taken = [
    'shop.example',
    'WWW.Shop.Example.',
    'xn--bcher-kva.example',
    'bücher.example',
    'mylocalhost.example',
  ].concat(['local.example', '8.8.8.8', '134744072', '[2606:4700::1111]', 'a_b.adnet.test', '127.0.0.1.nip.io']);
  assert.deepEqual(
    taken.filter((host) => !isPublicHost(host)),
    [],
  );
});

test('a name that the domain name system cannot hold is refused', () => {
  const label = 'a'.repeat(63);
  const longest = `${`${label}.`.repeat(3)}${'a'.repeat(57)}.com`;
  assert.equal(longest.length, 253);
  assert.ok(isPublicHost(longest) && isPublicHost(`${longest}.`) && isPublicHost(`${label}.example`));
  assert.deepEqual([`b${longest}`, `${label}a.example`, `${'a.'.repeat(7_000)}example`].filter(isPublicHost), []);
});

test('a host has one canonical spelling', () => {
  const spellings: [string, string | null][] = [
    ['0x7f.1', '127.0.0.1'],
    ['[::FFFF:127.0.0.1]', '::ffff:7f00:1'],
    ['Bücher.Example.', 'xn--bcher-kva.example'],
    ['shop.example:443', null],
    ['::1', null],
    ['[::1]:80', null],
    ['a\tb.example', null],
    ['shop.xn--pokxncvks', null],
  ];
  for (const [host, canonical] of spellings) assert.equal(canonicalHost(host), canonical, host);
});

type ObservedUrl = { input: string; expect: string; reason: string };

test('URLs known from attacks are judged as published', {
  skip: observed.skip,
}, () => {
  const rows = (JSON.parse(readFileSync(observed.path, 'utf8')) as ObservedUrl[]).filter(
    (row) => row.reason !== 'credentials',
  );
  const isTaken = ({ input }: ObservedUrl) => isPublicHost(URL.parse(input)?.hostname ?? '');
  const wrong = rows.filter(
    (row) => row.expect !== 'reject-or-resolve' && isTaken(row) !== row.expect.startsWith('accept'),
  );
  assert.deepEqual(wrong, []);
  assert.ok(rows.length > 100);
});
