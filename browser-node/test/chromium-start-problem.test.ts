import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProblem } from '../src/browser/chromium-start-problem.ts';

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
  test(`a sandbox that ${setting} forbids is told with what to type`, () => {
    const said = startProblem(root, noSandbox, (name) => (name === setting ? value : null));
    assert.match(said, remedy);
    assert.match(said, /ADSWEEP_CHROMIUM_SANDBOX=off/);
    assert.doesNotMatch(said, /\n/);
  });
}

test('a sandbox that no setting of the kernel forbids is one for the container', () => {
  assert.match(
    startProblem(root, noSandbox, () => null),
    /seccomp profile of a container/,
  );
});

test('a root that may not change its user, and a Chromium that its user may not run, are told apart', () => {
  assert.match(startProblem(root, failure('EPERM')), /run Adsweep as an ordinary user/);
  assert.match(startProblem(root, failure('EACCES')), /\/usr\/bin\/chromium cannot be run by user 65530/);
  assert.match(startProblem({ ...root, account: null }, failure('EACCES')), /does not start: spawn EACCES/);
});
