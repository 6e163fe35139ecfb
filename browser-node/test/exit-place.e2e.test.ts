import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import { ChromiumPool } from '../src/browser/chromium-pool.ts';
import { chromiumOfRun } from './support/chromium-of-run.ts';
import { CredentialProxy } from './support/credential-proxy.ts';

/** What a lookup of the exit's address tells, from public maps: not from the table that the node reads. */
type Place = { timezone: string; latitude: number; longitude: number };
const LOS_ANGELES: Place = { timezone: 'America/Los_Angeles', latitude: 34.05, longitude: -118.24 };
const DENVER: Place = { timezone: 'America/Denver', latitude: 39.74, longitude: -104.99 };
const PERTH: Place = { timezone: 'Australia/Perth', latitude: -31.95, longitude: 115.86 };

const CASES: [name: string, exit: Partial<Exit>, place: Place][] = [
  ['Los Angeles', { country_code: 'US', region: 'California', city: 'Los Angeles' }, LOS_ANGELES],
  ['what the exits file says', { country_code: 'US', region: 'California', city: 'Los Angeles', ...DENVER }, DENVER],
  ['a region', { country_code: 'AU', region: 'Western Australia', city: null }, PERTH],
];

/** Says in which ways a window or worker differs from the place of its visitor's address. */
const COMPARE = `
const dates = [0, 6].map((month) => new Date(Date.UTC(2026, month, 15, 12)));
const differences = (place) => [
  Intl.DateTimeFormat().resolvedOptions().timeZone === place.timezone || 'zone',
  dates.every((at) => at.toLocaleString('en') === at.toLocaleString('en', { timeZone: place.timezone })) || 'clock',
  dates.every((at) => Date.parse(at.toLocaleString('en', { timeZone: 'UTC' })) - Date.parse(at.toLocaleString('en')) === at.getTimezoneOffset() * 60000) || 'offset',
  dates.every((at) => new Date(Date.UTC(...at.toLocaleString('sv', { timeZone: place.timezone }).match(/\\d+/g).map((part, index) => part - (index === 1)))).getUTCHours() === at.getHours()) || 'hours',
].filter((same) => same !== true);
`;
const PAGE = `<!doctype html><script>${COMPARE}
const located = (place) => new Promise((resolve) => navigator.geolocation.getCurrentPosition(
  ({ coords }) => resolve(Math.hypot(coords.latitude - place.latitude, coords.longitude - place.longitude) < 0.5 ? [] : ['position']),
  ({ message }) => resolve([message]),
));
const compared = fetch('/place').then((answer) => answer.json()).then(async (place) => {
  const worker = new Worker('/worker.js');
  worker.postMessage(place);
  const ofWorker = new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
  const frame = document.documentElement.appendChild(document.createElement('iframe'));
  const ofFrame = frame.contentWindow.Intl.DateTimeFormat().resolvedOptions().timeZone === place.timezone ? [] : ['frame'];
  return [...differences(place), ...ofFrame, ...(await located(place)), ...(await ofWorker).map((what) => what + ' of the worker')];
});
</script>`;
const WORKER = `${COMPARE} onmessage = ({ data }) => postMessage(differences(data));`;

let place = LOS_ANGELES;
let site: Server;
let proxy: CredentialProxy;
let pool: ChromiumPool;
before(async () => {
  site = createServer(({ url }, response) => {
    if (url === '/place') return void response.end(JSON.stringify(place));
    response.setHeader('content-type', url === '/worker.js' ? 'text/javascript' : 'text/html');
    response.end(url === '/worker.js' ? WORKER : PAGE);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  proxy = await CredentialProxy.start((site.address() as AddressInfo).port);
  pool = new ChromiumPool(await chromiumOfRun(), createLogger('test', 'silent'), () => undefined);
});
after(async () => {
  await pool.close();
  await proxy.close();
  site.closeAllConnections();
  site.close();
});

for (const [name, exit, where] of CASES)
  test(`§2.2.5 a page that compares its clock, timezone and position with the place of its address sees no difference: ${name}`, async () => {
    place = where;
    const { ticket } = proxy;
    const at = { ...ticket, exit: { ...ticket.exit, ...exit } };
    const emulator = findEmulator('windows_chrome')!;
    const open = await pool.open({ emulator, countryCode: at.exit.country_code, ticket: at, isolated: false });
    try {
      const page = await open.context.newPage();
      // A secure context without a certificate: others have no geolocation.
      await page.goto('http://shop.localhost/');
      assert.deepEqual(await page.evaluate('compared'), []);
    } finally {
      await open.close();
    }
  });
