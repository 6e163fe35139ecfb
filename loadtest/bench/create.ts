import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import { API_KEY, MeasuredService, NODE_TOKEN, startServices } from './measured-services.ts';
import { barChart, machine, median, medianAndRange, number, saveResult } from './report.ts';

/** What does creating a scan cost beside a bare Koa route with the same validation and the same insert? */
const ROUNDS = 7;
const REQUESTS = 1_500;
/** One at a time: requests that arrive together share writes, which the bare route does not do. */
const AT_ONCE = 1;

const BODY = JSON.stringify({
  url: 'https://shop.example/landing?click=1234567890',
  country_code: 'US',
  emulator_id: 'android_phone_pixel_8',
  referrer: 'https://news.example/today',
  labels: { team: 'red', order: 'nr-17' },
  retry_max_attempts: 1,
});

const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
const services = await startServices({ ADSWEEP_ROLES: 'api', ADSWEEP_START_BALANCE_MICROS: '10000000000000' });
await limitFirstOrganization();
const routerUrl = `http://127.0.0.1:${services.router.ports.api}`;
const bare = await MeasuredService.start('loadtest/bench/bare-create.ts', {}, [folder, routerUrl, NODE_TOKEN]);
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

/** Every limit is there and none is reached: each request is counted, for the quota, the balance and the rate. */
async function limitFirstOrganization(): Promise<void> {
  const url = `http://127.0.0.1:${services.control.ports.http}/api/v1`;
  const limits = { checks_per_month: 1_000_000_000, requests_per_minute: 1_000_000_000 };
  const headers = { authorization: `Bearer ${API_KEY}` };
  const { id } = (await (await fetch(`${url}/account`, { headers })).json()) as { id: string };
  const change = { method: 'PATCH', headers, body: JSON.stringify(limits) };
  const { status } = await fetch(`${url}/organizations/${id}`, change);
  if (status !== 200) throw new Error(`the limits were answered ${status}`);
}

function post(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-length': Buffer.byteLength(BODY) };
  return new Promise((resolve, reject) => {
    const sent = request(
      { agent, port, host: '127.0.0.1', method: 'POST', path: '/api/v1/scans', headers },
      (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.once('error', reject).end(BODY);
  });
}

/** Microseconds of the service's processor time for one request. */
async function processorTime({ pid, ports }: MeasuredService): Promise<number> {
  const before = cpuSecondsOfTree(pid);
  let left = REQUESTS;
  const work = async () => {
    while (left-- > 0) {
      const status = await post(ports.http!);
      if (status !== 201) throw new Error(`a request was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ((cpuSecondsOfTree(pid) - before) * 1e6) / REQUESTS;
}

// The first round warms both up.
const rounds: [bare: number, ours: number][] = [];
for (let round = 0; round <= ROUNDS; round += 1) {
  const times: [number, number] = [await processorTime(bare), await processorTime(services.control)];
  if (round > 0) rounds.push(times);
}
const [bareTime, ourTime] = [0, 1].map((at) => median(rounds.map((times) => times[at]!))) as [number, number];
const differences = rounds.map(([first, second]) => second - first);
const ratio = median(rounds.map(([first, second]) => second / first));

agent.destroy();
await bare.stop();
await services.stop();
rmSync(folder, { recursive: true, force: true });

saveResult('create', [
  '# What creating a scan costs',
  `${machine()}. Microseconds of the process' processor time for one \`POST /api/v1/scans\`: the median of ${ROUNDS} rounds of ${REQUESTS} requests, one at a time, in turn. The bare route has the same validation and the same insert into the embedded store; ours also finds the key and the organization, counts the request for its rate limit, its monthly quota and its balance, logs, counts, queues the crawl job in Redis and answers with the whole scan.`,
  `| | µs |\n|---|---|\n| bare Koa route | ${number(bareTime)} |\n| the API | ${number(ourTime)} |\n| difference (of the rounds) | ${medianAndRange(differences, 0)} |\n| ratio (median of the rounds' own) | ${ratio.toFixed(2)} |`,
  barChart('µs of processor time for one request', [
    ['bare Koa route', bareTime],
    ['the API', ourTime],
  ]),
]);
