import assert from 'node:assert/strict';
import { it } from 'node:test';
import { endedKindOf, kindOf } from '../process-kinds.ts';

it('a process counts as what its command line says, and what it has waited for as well', () => {
  const chromium = '/usr/lib/chromium/chromium-headless-shell';
  const kinds = {
    [`${chromium} --headless`]: ['browser process', 'others'],
    [`${chromium} --type=renderer --enable`]: ['renderers', 'others'],
    [`${chromium} --type=zygote`]: ['others', 'renderers'],
    [`${chromium} --type=gpu-process`]: ['GPU process', 'others'],
    [`${chromium} --type=utility --utility-sub-type=network.mojom.NetworkService`]: ['network service', 'others'],
    '/usr/bin/node /srv/browser-node/src/main.ts': ['browser node, or the program itself', 'others'],
    '/usr/bin/node /srv/loadtest/bench/bare-loop.ts http://a': ['browser node, or the program itself', 'others'],
    '/usr/bin/node /srv/control-plane/src/scanning/artifacts/resize-process.ts': ['control plane', 'others'],
    '/usr/bin/node /srv/infra/demo/main.ts': [null, null],
    'redis-server unixsocket:/tmp/redis.sock': ['Redis', 'others'],
    '/usr/bin/node /srv/infra/farm/start.ts': ['others', 'others'],
  };
  for (const [command, [own, ended]] of Object.entries(kinds))
    assert.deepEqual([kindOf(command), endedKindOf(command)], [own, ended], command);
});
