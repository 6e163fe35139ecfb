import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '@adsweep/shared/service/load-config.ts';
import { denyAddressesSetting } from '@adsweep/shared/service/settings.ts';
import { readAddressBlock, splitAddressBlocks } from '@adsweep/shared/urls/address-blocks.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { Type } from 'typebox';

test('a denied block is refused in every spelling of its addresses, its neighbours are not', () => {
  const policy = new AddressPolicy(['8.8.4.0/22', '2a02:500::/32', '9.9.9.9'], () => []);
  const hosts = [
    '8.8.4.0',
    '8.8.7.255',
    '134743044',
    '0x08080404',
    '010.010.4.4',
    '8.525316',
    '[2a02:500::1]',
    '9.9.9.9.',
  ];
  assert.deepEqual(
    hosts.filter((host) => policy.allowsHost(host)),
    [],
  );
  assert.deepEqual(
    ['8.8.3.255', '8.8.8.0', '9.9.9.8', '[2a02:501::1]'].filter((host) => !policy.allowsHost(host)),
    [],
  );
  assert.deepEqual(
    ['8.8.4.4', '2a02:500:1::', '::ffff:8.8.4.4', '64:ff9b::808:404'].filter((one) => policy.allowsAddress(one)),
    [],
  );
});

test('whatever the operator denies, private addresses stay refused and names stay names', () => {
  const policy = new AddressPolicy([], () => []);
  assert.ok(!policy.allowsAddress('127.0.0.1') && !policy.allowsHost('localhost') && !policy.allowsHost('no host'));
  assert.ok(!policy.allowsHost(`${'\u00ad'.repeat(5_000)}shop.example`), 'a host of any length is answered');
  assert.ok(policy.allowsHost('8.8.4.4.nip.io') && !policy.allowsAddress('shop.example'));
});

test('an address that this machine gets while it runs is refused soon after', (t) => {
  let own = ['8.8.4.4'];
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const policy = new AddressPolicy([], () => own);
  assert.ok(!policy.allowsAddress('8.8.4.4') && policy.allowsAddress('8.8.4.5'));
  own = ['8.8.4.5'];
  now += 6_000;
  assert.ok(policy.allowsAddress('8.8.4.4') && !policy.allowsAddress('8.8.4.5'));
});

test('ADSWEEP_DENY_ADDRESSES takes blocks of both families, and says what it wants instead of anything else', () => {
  const schema = Type.Object({ ADSWEEP_DENY_ADDRESSES: denyAddressesSetting });
  const read = (text: string) =>
    splitAddressBlocks(loadConfig(schema, { ADSWEEP_DENY_ADDRESSES: text }).ADSWEEP_DENY_ADDRESSES);
  assert.deepEqual(read(''), []);
  assert.deepEqual(read(' 8.8.4.0/22 ,2a02:500::/32,, 9.9.9.9 '), ['8.8.4.0/22', '2a02:500::/32', '9.9.9.9']);
  for (const text of ['shop.example', '8.8.4.0/33', '8.8.4', '2a02::/129', '8.8.4.0/22;9.9.9.9', 'fe80::1%eth0'])
    assert.throws(
      () => read(text),
      (error: Error) => error.message.includes('ADSWEEP_DENY_ADDRESSES must be address blocks such as'),
      text,
    );
  assert.equal(readAddressBlock('8.8.4.0/22/1'), null);
});
