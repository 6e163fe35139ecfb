import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainStartError } from '../src/browser/locate-chromium.ts';

const root = { path: '/usr/bin/chromium', account: { uid: 65_530, gid: 65_530 } };
const noSandbox = new Error(
  'Chromium ended at its start (SIGTRAP): FATAL:zygote_host_impl_linux.cc] No usable sandbox!',
);
const failure = (code: string) => Object.assign(new Error(`spawn ${code}`), { code });

for (const [setting, value, remedy] of [
  ['user.max_user_namespaces', '0', /sysctl -w user\.max_user_namespaces=15000/],
  ['kernel.unprivileged_userns_clone', '0', /sysctl -w kernel\.unprivileged_userns_clone=1/],
  ['kernel.apparmor_restrict_unprivileged_userns', '1', /sysctl -w kernel\.apparmor_restrict_unprivileged_userns=0/],
] as const) {
  test(`when ${setting} forbids the sandbox, the error names the command that allows it`, () => {
    const said = explainStartError(root, noSandbox, (name) => (name === setting ? value : null));
    assert.match(said, remedy);
    assert.match(said, /ADSWEEP_CHROMIUM_SANDBOX=off/);
    assert.doesNotMatch(said, /\n/);
  });
}

test('when no kernel setting forbids the sandbox, the error names the seccomp profile of a container', () => {
  assert.match(
    explainStartError(root, noSandbox, () => null),
    /seccomp profile of a container/,
  );
});

test('the errors of a root that cannot switch users and of a Chromium that its user cannot run are different', () => {
  assert.match(explainStartError(root, failure('EPERM')), /run Adsweep as an ordinary user/);
  assert.match(explainStartError(root, failure('EACCES')), /\/usr\/bin\/chromium cannot be run by user 65530/);
  assert.match(explainStartError({ ...root, account: null }, failure('EACCES')), /does not start: spawn EACCES/);
});
