import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Site } from '../../../browser-node/test/support/site.ts';
import { seededRandom } from '../../../shared/test/support/seeded-random.ts';
import { until } from '../../../shared/test/support/until.ts';
import { RunningFarm, type Scan, writeExits } from './support/running-farm.ts';

/** `npm run test:all` kills the node once, `npm run chaos` until sweeps were hit at twenty moments and more. */
const ROUNDS = process.env.ADSWEEP_CHAOS === 'long' ? 7 : 1;
/** Sweeps that one kill hits, each at another moment of its own, because they start one after the other. */
const SWEEPS = 3;
const APART_MS = 4_000;
/** The node is killed at most this long after the last sweep began. */
const KILLED_AFTER_MS = 20_000;
const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? randomInt(2 ** 31));

const PAGE = 'https://www.town-news.example/';
const NAMES = ['first', 'second', 'third'];
const CHARGE = { type: 'usage_charge', amount_micros: -10_000 };

type Child = Scan & { slot_index: number };

describe('sweeps whose node is killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-kills-'));
  const random = seededRandom(SEED);
  let [site, farm] = [] as unknown as [Site, RunningFarm];
  before(async () => {
    site = await Site.start();
    const slots = NAMES.map(
      (name) =>
        `<p>Text about ${name}</p><div id="slot-${name}"><iframe src="https://ib.adnxs.com/${name}" width="300" height="250" style="border:0"></iframe></div>`,
    );
    site.setPage(PAGE, `<!doctype html><title>News</title><h1>News</h1>${slots.join('')}`);
    for (const name of NAMES) {
      const link = `<a href="https://shop-${name}.example/" target="_blank" style="display:block;width:300px;height:250px;background:#ace">Offer</a>`;
      site.setPage(`https://ib.adnxs.com/${name}`, `<!doctype html><body style="margin:0">${link}`);
      site.setPage(`https://shop-${name}.example/`, `<title>Shop ${name}</title><h1>Buy</h1>`);
    }
    const hosts = Object.fromEntries(site.hosts().map((host) => [host, `127.0.0.1:${site.httpsPort}`]));
    farm = new RunningFarm({ ADSWEEP_EXITS_FILE: writeExits(folder, hosts), ADSWEEP_SLOTS: String(SWEEPS) });
    await farm.ready();
  });
  after(async () => {
    await farm.close();
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const childrenOf = async ({ id }: Scan): Promise<Child[]> => {
    const answer = await farm.call('GET', `/api/v1/scans/${id}/children?limit=100`);
    const { items } = (await answer.json()) as { items: Child[] };
    return items.toSorted((one, other) => one.slot_index - other.slot_index);
  };

  /** Kills the node while sweeps run; then all of them come to their end. */
  async function killOnce(): Promise<{ sweep: Scan; children: Child[] }[]> {
    const sweeps: Scan[] = [];
    for (let n = 0; n < SWEEPS; n += 1) {
      sweeps.push(await farm.submit({ url: PAGE, ad_discovery: true }));
      await pause(APART_MS * random());
    }
    await pause(KILLED_AFTER_MS * random());
    const killed = farm.pidOf('browser-node 1');
    process.kill(killed, 'SIGKILL');
    await until('another node', () => farm.pidOf('browser-node 1') !== killed, 60);
    return Promise.all(
      sweeps.map(async ({ id }) => {
        const sweep = await farm.finished(id, 300);
        const children = await childrenOf(sweep);
        const ended = await Promise.all(
          children.map(async (child) => ({ ...child, ...(await farm.finished(child.id, 300)) })),
        );
        return { sweep, children: ended };
      }),
    );
  }

  it(`§4.2.9 have the ads that they have without it, each charged once and none unfinished (${ROUNDS * SWEEPS} sweeps, seed ${SEED})`, async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { sweep, children } of await killOnce()) {
        assert.deepEqual([sweep.status, sweep.error], ['completed', '']);
        assert.deepEqual(
          children.map(({ slot_index, status, error, landings }) => [
            slot_index,
            status,
            error,
            landings[0]?.final_url ?? '',
          ]),
          NAMES.map((name, at) => [at, 'completed', '', `https://shop-${name}.example/`]),
        );
        for (const { id } of [sweep, ...children]) assert.deepEqual(await farm.charged(id), [CHARGE]);
      }
      t.diagnostic(`round ${round + 1} of ${ROUNDS} ended`);
    }
  });
});
