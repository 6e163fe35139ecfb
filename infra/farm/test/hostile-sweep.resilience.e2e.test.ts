import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { Site } from '../../../browser-node/test/support/site.ts';
import { RunningFarm, type Scan, writeExits } from './support/running-farm.ts';

const PAGE = 'https://www.town-news.example/';
const CHARGE = { type: 'usage_charge', amount_micros: -10_000 };
const FILL = 'const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));';

/** What ads do to the page around them, at once and when they are clicked, besides leading to a shop. */
const ADS: Record<string, { atOnce?: string; onClick?: string }> = {
  first: { onClick: "top.postMessage('clicked', '*')" },
  vanishes: {},
  spins: { atOnce: 'setTimeout(() => { for (;;); }, 4000);' },
  dialogs: { atOnce: 'setTimeout(() => { for (;;) alert(1); }, 4000);' },
  console: { atOnce: "setInterval(() => { for (let n = 0; n < 2e4; n += 1) console.log('flood'); }, 50);" },
  sends: { atOnce: "setInterval(() => { for (let n = 0; n < 2e3; n += 1) top.postMessage('flood', '*'); }, 20);" },
  crashes: { atOnce: "for (;;) top.postMessage('flood', '*');" },
  fills: { onClick: `setTimeout(() => { ${FILL} }, 500);` },
  navigates: { onClick: "setTimeout(() => { top.location.href = 'https://elsewhere.example/'; }, 300);" },
  under: { onClick: "top.location.href = 'https://elsewhere.example/';" },
  windows: { onClick: "for (let n = 0; n < 20; n += 1) open('https://elsewhere.example/?' + n);" },
  last: {},
};
const NAMES = Object.keys(ADS);
const hostOf = (name: string) => `ads-${name}.example`;
const slotOf = (name: string) =>
  `<p>Text about ${name}</p><div id="div-gpt-ad-${name}" data-google-query-id="${name}" style="margin-bottom:300px"><iframe id="google_ads_iframe_/1/${name}_0" src="https://${hostOf(name)}/" width="300" height="250" style="border:0"></iframe></div>`;
const adOf = (name: string) =>
  `<!doctype html><body style="margin:0"><div id="ad" style="width:300px;height:250px;background:#ace">Offer</div><script>
  ad.onclick = () => { open('https://shop-${name}.example/'); ${ADS[name]?.onClick ?? ''} };
  ${ADS[name]?.atOnce ?? ''}</script>`;

const isLong = process.env.ADSWEEP_CHAOS === 'long';

it('§4.2.2 twelve ads on a page, most of them hostile, are all scanned and charged once, with their own landings', {
  skip: isLong ? false : 'it takes minutes: npm run chaos',
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-hostile-'));
  const site = await Site.start();
  // What its ad server's script takes away, once the first ad was clicked.
  const remove =
    "<script>onmessage = ({ data }) => data === 'clicked' && document.getElementById('div-gpt-ad-vanishes').remove()</script>";
  site.setPage(PAGE, `<!doctype html><title>News</title>${remove}<h1>News</h1>${NAMES.map(slotOf).join('')}`);
  site.setPage('https://elsewhere.example/', '<title>Elsewhere</title><h1>Elsewhere</h1>');
  for (const name of NAMES) {
    site.setPage(`https://${hostOf(name)}/`, adOf(name));
    site.setPage(`https://shop-${name}.example/`, `<title>Shop ${name}</title><h1>Buy</h1>`);
  }
  const hosts = Object.fromEntries(site.hosts().map((host) => [host, `127.0.0.1:${site.httpsPort}`]));
  const farm = new RunningFarm({ ADSWEEP_EXITS_FILE: writeExits(folder, hosts) });
  t.after(async () => {
    await farm.close();
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await farm.ready();
  const sweep = await farm.finished((await farm.submit({ url: PAGE, ad_discovery: true })).id, 300);
  assert.ok(['completed', 'partial'].includes(sweep.status), `${sweep.status}: ${sweep.error}`);
  const answer = await farm.call('GET', `/api/v1/scans/${sweep.id}/children?limit=100`);
  const { items } = (await answer.json()) as { items: (Scan & { slot_index: number })[] };
  const children = await Promise.all(
    items
      .toSorted((one, other) => one.slot_index - other.slot_index)
      .map(async ({ id }) => ({ ...(await farm.finished(id, 600)), charges: await farm.charged(id) })),
  );
  for (const [at, { status, error, landings }] of children.entries())
    t.diagnostic(`${NAMES[at]}: ${status} ${error} ${landings.map(({ final_url }) => final_url).join(' ')}`);
  assert.deepEqual(
    children.map(({ status, charges }, at) => [NAMES[at], status === 'completed' || status === 'partial', charges]),
    NAMES.map((name) => [name, true, [CHARGE]]),
  );
  // What a click on these leads to, whatever the others do.
  for (const name of ['first', 'console', 'fills', 'navigates', 'under', 'windows', 'last'])
    assert.equal(children[NAMES.indexOf(name)]?.landings[0]?.final_url, `https://shop-${name}.example/`, name);
  assert.deepEqual(await farm.charged(sweep.id), [CHARGE]);
});
