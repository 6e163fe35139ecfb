import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../../shared/test/support/free-port.ts';
import { CuttableLink } from './cuttable-link.ts';
import { launchAgain, SignalledProcess } from './signalled-process.ts';

const MAIN = join(import.meta.dirname, '../../../proxy-router/src/main.ts');
/** A site that both routers map to a server of the test. */
export const SITE_URL = 'http://shop.example/';

export type RouterPair = Awaited<ReturnType<typeof startRouterPair>>;

/**
 * Two proxy-routers as processes that know each other as replicas, behind one address that leads each connection to the
 * next of them, and a site that they reach. `folder` is for their files; `env` for what they have in common with the
 * other services.
 */
export async function startRouterPair(folder: string, env: { ADSWEEP_NODE_TOKEN: string; NODE_COMPILE_CACHE: string }) {
  let loads = 0;
  const site = createServer((_, response) => {
    loads += 1;
    response.end('a page');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  const exits = [{ id: 'us', country_code: 'US', proxy_type: 'residential', pool_size: 1, provider: 'direct' }];
  const hosts = { 'shop.example': `127.0.0.1:${(site.address() as AddressInfo).port}` };
  const exitsFile = join(folder, 'exits.json');
  await writeFile(exitsFile, JSON.stringify({ exits, hosts }));

  const apis = [await freePort(), await freePort()];
  const routers = await Promise.all(
    apis.map(async (api, at) => {
      const gateway = await freePort();
      const dataDir = join(folder, `router-${at}`);
      await mkdir(dataDir);
      const settings = {
        ...{ ...env, PATH: process.env.PATH, ADSWEEP_DATA_DIR: dataDir, ADSWEEP_EXITS_FILE: exitsFile },
        ...{ ADSWEEP_PROXY_PORT: String(api), ADSWEEP_GATEWAY_PORT: String(gateway) },
        ...{ ADSWEEP_REPLICA_URL: `http://127.0.0.1:${api}`, ADSWEEP_TICKET_SECRET: 'ticket-secret-of-this-test' },
        ADSWEEP_LOG_LEVEL: 'error',
      };
      const launch = async () => {
        const child = spawn(process.execPath, [MAIN], { env: settings, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
        const ended = once(child, 'exit').then(() => Promise.reject(new Error('a proxy-router ended at its start')));
        ended.catch(() => undefined);
        await Promise.race([once(child, 'message'), ended]);
        return child;
      };
      return new SignalledProcess(() => launchAgain(launch));
    }),
  );
  await Promise.all(routers.map((router) => router.start()));
  let turn = 0;
  const link = await CuttableLink.open(() => {
    turn += 1;
    return { port: apis[turn % 2]! };
  });
  return {
    ...{ routers, link, url: `http://127.0.0.1:${link.port}` },
    /** How often the site was loaded. */
    loads: () => loads,
    async stop(): Promise<void> {
      await Promise.all(routers.map((router) => router.end()));
      await link.close();
      site.closeAllConnections();
      await new Promise((resolve) => site.close(resolve));
    },
  };
}
