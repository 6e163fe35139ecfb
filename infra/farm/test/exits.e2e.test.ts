import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http, { type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startVendor, type VendorBehavior } from '../../../proxy-router/test/support/simulated-vendor.ts';
import { RunningFarm } from './support/running-farm.ts';

/** How the vendor of each country behaves. All their addresses are in the United States. */
const GOOD: Record<string, VendorBehavior> = { US: 'works', ES: 'works' };
const OVER_HTTP: Record<string, VendorBehavior> = {
  DE: { status: 407 },
  FR: { status: 429, text: 'slow down', headers: { 'Retry-After': '1' } },
  GB: 'dies',
  IT: { status: 404, text: 'no such place' },
  SE: 'hangs_in_body',
};
const OVER_HTTPS: Record<string, VendorBehavior> = {
  AT: { status: 403, text: 'zone suspended' },
  BE: { status: 503, text: 'too many requests' },
  NL: { status: 502 },
  PT: { status: 502, text: 'no exits found' },
};
const VENDORS = { ...GOOD, ...OVER_HTTP, ...OVER_HTTPS };

const PLACES_OF_POLAND = [
  ['Mazovia', 'Warsaw'],
  ['Silesia', 'Katowice'],
] as const;

/**
 * A page whose title says how its visitor's clock differs from that of the place of the address: of these exits Los
 * Angeles, without summer time Phoenix.
 */
const COMPARES = `<script>
const at = (timeZone) => [0, 6].map((month) => new Date(Date.UTC(2026, month, 15)).toLocaleString('en', { timeZone })).join();
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const place = location.pathname === '/phoenix' ? 'America/Phoenix' : 'America/Los_Angeles';
document.title = zone === place && at(zone) === at(undefined) && at(zone) === at(place) ? 'no difference' : zone;
</script>`;

/** Serves `answer`; a request for `/poll` never ends. */
async function listening(t: TestContext, answer: string): Promise<string> {
  const server: Server = http.createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.url === '/poll') response.write(' ');
    else response.end(answer);
  });
  t.after(() => server.closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const listed = (id: string, country_code: string, upstream: string) => {
  return { id, country_code, proxy_type: 'residential', pool_size: 1, provider: 'list', upstream };
};

test('vendors’ failures become the right failure code, the right tag or nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-exits-'));
  const page = await listening(t, '<title>A shop</title><script>fetch("/poll")</script><p>Nothing to see.</p>');
  const compares = await listening(t, COMPARES);
  const check = await listening(t, JSON.stringify({ ip: '203.0.113.7', country_code: 'US', asn: 64500 }));
  const exits = [];
  for (const [country, behavior] of Object.entries(VENDORS)) {
    const vendor = await startVendor(t);
    const hosts = { 'shop.example': page, 'place.example': compares, 'check.example': check };
    Object.assign(vendor, { behavior, hosts, spared: 'check.example' });
    exits.push(listed(country.toLowerCase(), country, `http://cust-42-cc-us:secret@${vendor.address}`));
    if (country === 'US') exits.push(listed('us-2', 'US', `http://cust-42-cc-us:secret@${vendor.address}`));
  }
  for (const [region, city] of PLACES_OF_POLAND)
    exits.push({ ...listed(city, 'PL', 'http://cust-42-cc-us:secret@127.0.0.1:1'), region, city });
  const [mapped] = exits.filter(({ id }) => id === 'us');
  const inCity = { region: 'California', city: 'Los Angeles' };
  exits.push({ ...mapped!, ...inCity, id: 'us-la' });
  exits.push({ ...mapped!, id: 'us-written', region: 'Arizona', city: 'Tuba City', timezone: 'America/Phoenix' });
  exits.push(listed('us-dead', 'US', 'http://cust-42-cc-us:secret@127.0.0.1:1'));
  const file = join(folder, 'exits.json');
  writeFileSync(file, JSON.stringify({ exits }));
  const farm = new RunningFarm({ ADSWEEP_EXITS_FILE: file, ADSWEEP_EXIT_CHECK_URL: 'http://check.example/' });
  t.after(() => farm.close());
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  await farm.ready();

  const scan = (country_code: string, retry_max_attempts = 0, scheme = 'http') =>
    farm.scanned({ url: `${scheme}://shop.example/`, country_code, retry_max_attempts });
  const outcomes = async (countries: string[], scheme: string) => {
    const scans = await Promise.all(countries.map((country) => scan(country, 0, scheme)));
    return scans.map(({ status, error }) => `${status} ${error}`);
  };
  await t.test('§4.1.3 each kind of vendor failure has its own code, over http and https', async () => {
    const codes = ['ACCOUNT_REFUSED', 'RATE_LIMITED', 'UPSTREAM_FAILED', 'NODE_NOT_FOUND'];
    const expected = codes.map((code) => `failed proxy: ${code}`);
    const stalled = 'failed proxy: UPSTREAM_FAILED';
    assert.deepEqual(await outcomes(Object.keys(OVER_HTTP), 'http'), [...expected, stalled]);
    assert.deepEqual(await outcomes(Object.keys(OVER_HTTPS), 'https'), expected);
  });

  await t.test('§4.1.5 a city in another region than the requested one is accepted and finds no exit', async () => {
    const lists = await (await farm.call('GET', '/api/v1/proxy/targeting?country_code=PL&region=mazovia')).json();
    assert.deepEqual((lists as { cities: string[] }).cities, ['Warsaw']);
    const proxy = { region: 'Mazovia', city: 'Katowice' };
    const { status, error } = await farm.scanned({ url: 'http://shop.example/', country_code: 'PL', proxy });
    assert.equal(`${status} ${error}`, 'failed proxy: NODE_NOT_FOUND');
  });

  await t.test('with one dead exit in five and three retries, every scan completes', async () => {
    const scans = await Promise.all(Array.from({ length: 6 }, () => scan('US', 3)));
    assert.deepEqual(
      scans.map(({ status, error }) => `${status} ${error}`),
      Array(6).fill('completed '),
    );
  });

  await t.test(
    '§2.2.5 a scan from a place runs there: its page sees no difference between its clock and its address',
    async () => {
      const from = (path: string, proxy: object) => farm.scanned({ url: `http://place.example/${path}`, proxy });
      const scans = await Promise.all([from('', inCity), from('phoenix', { region: 'Arizona', city: 'Tuba City' })]);
      assert.deepEqual(
        scans.map(({ status, page_title }) => `${status}: ${page_title}`),
        Array(2).fill('completed: no difference'),
      );
    },
  );

  await t.test('§2.2.4 an exit in another country than the requested one is reported with its address', async () => {
    const misplaced = await scan('ES');
    assert.equal(misplaced.status, 'completed', misplaced.error);
    assert.deepEqual(await farm.tagsOf(misplaced.id), ['exit_mismatch']);
    const { exit } = (await (await farm.call('GET', `/api/v1/scans/${misplaced.id}`)).json()) as {
      exit: Record<string, unknown>;
    };
    assert.deepEqual(
      [exit.country_code, exit.observed_country_code, exit.ip, exit.asn, exit.provider, exit.attempts],
      ['ES', 'US', '203.0.113.7', 'AS64500', 'list', 1],
    );
    const report = await (await fetch(misplaced.public_report_url)).text();
    assert.match(report, /Spain<\/bdi><\/td><td><bdi>United States/);
  });
});
