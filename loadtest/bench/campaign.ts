import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import { drawSeries } from './growth-series.ts';
import { API_KEY, NODE_TOKEN, startServices } from './measured-services.ts';
import { figure, machine, median, percentile, saveResult } from './report.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

/**
 * A campaign of 10,000 scans: how soon its run is accepted, how soon all of its scans are created, at what cost, and whether another
 * organization's scans are leased meanwhile as if it were not there. Exits with 1 if a limit is exceeded.
 *
 *     npm run bench campaign -- [rounds] [repeats of each country and device]
 */
const [ROUNDS = 3, REPEATS = 20] = process.argv.slice(2).map(Number);
const [COUNTRIES, DEVICES] = [20, 25];
const SCANS = COUNTRIES * DEVICES * REPEATS;
const [ACCEPTED_MAX_MS, CREATED_MAX_S] = [300, 20];
/** The other organization's scans wait at most so much longer, at the median and at the 95th percentile. */
const [LONGER_MAX_MS, LONGER_P95_MAX_MS] = [50, 250];

/** Some slots are free at any time: the campaign's organization may use half of them. */
const [NODES, SLOTS] = [4, 8];
const CAPTURE_MS: [least: number, most: number] = [1_000, 3_000];
const OTHERS_EVERY_MS = 250;
/** As long as the other organization is alone before each round. */
const ALONE_MS = 10_000;
const LOOK_EVERY_MS = 100;

type Json = Record<string, unknown> & { id: string };
type Client = (method: string, path: string, body?: unknown) => Promise<Json>;

const services = await startServices({ ADSWEEP_START_BALANCE_MICROS: '10000000000000' });
const { http, node_api } = services.control.ports;
const clientWith =
  (key: string): Client =>
  async (method, path, body) => {
    const init = { method, headers: { authorization: `Bearer ${key}` }, body: body ? JSON.stringify(body) : null };
    const answer = await fetch(`http://127.0.0.1:${http}/api/v1${path}`, init);
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Json;
  };
const operator = clientWith(API_KEY);

async function organization(name: string, concurrent_leases: number | null): Promise<Client> {
  const { id, api_key } = await operator('POST', '/organizations', { name });
  const limits = { checks_per_month: 1_000_000_000, requests_per_minute: 1_000_000_000, concurrent_leases };
  await operator('PATCH', `/organizations/${id}`, limits);
  return clientWith(String(api_key));
}
const ours = await organization('Of the campaign', (NODES * SLOTS) / 2);
const theirs = await organization('Another', null);

const leasedAt = new Map<string, number>();
const fleet = new SimulatedFleet(
  {
    ...{ prefix: 'bench', nodes: NODES, slots: SLOTS, captureMs: CAPTURE_MS, joinToken: NODE_TOKEN },
    nodeApiUrl: `http://127.0.0.1:${node_api}`,
  },
  (jobId) => leasedAt.set(jobId, performance.now()),
);

/** Creates the other organization's scans until it is stopped; then the ms from each POST to the lease at a node, ascending. */
function othersScans() {
  const sent: Promise<{ at: number; id: string }>[] = [];
  const target = { url: 'https://shop.example/', country_code: 'US', emulator_id: 'windows_chrome' };
  const timer = setInterval(() => {
    const at = performance.now();
    sent.push(theirs('POST', '/scans', target).then(({ id }) => ({ at, id })));
  }, OTHERS_EVERY_MS);
  return async (): Promise<number[]> => {
    clearInterval(timer);
    const created = await Promise.all(sent);
    while (created.some(({ id }) => !leasedAt.has(id))) await pause(20);
    return created.map(({ id, at }) => leasedAt.get(id)! - at).toSorted((a, b) => a - b);
  };
}

const campaign = await ours('POST', '/campaigns', {
  ...{ name: 'Ten thousand', url: 'https://shop.example/', repeat_count: REPEATS },
  country_codes: ((await ours('GET', '/geos')) as unknown as { country_code: string }[])
    .slice(0, COUNTRIES)
    .map(({ country_code }) => country_code),
  ...{ emulator_categories: [], emulator_mode: 'all' },
  emulator_specific_ids: EMULATORS.slice(0, DEVICES).map(({ id }) => id),
});
const createdOf = async (run: string): Promise<number> =>
  Number((await ours('GET', `/runs/${run}/scans?limit=1`)).total);

/** One run, from its request until its last scan is created; it is cancelled afterwards. `seen`: how many scans there were at which time in ms. */
async function round() {
  const stopAlone = othersScans();
  await pause(ALONE_MS);
  const alone = await stopAlone();
  const stop = othersScans();
  const [began, cpu] = [performance.now(), cpuSecondsOfTree(services.control.pid)];
  let accepted = 0;
  const seen: [ms: number, scans: number][] = [];
  const hold = await services.control.longestHold(async () => {
    const { id } = await ours('POST', `/campaigns/${campaign.id}/run`);
    accepted = performance.now() - began;
    for (let created = 0; created < SCANS; await pause(LOOK_EVERY_MS)) {
      created = await createdOf(id);
      seen.push([performance.now() - began, created]);
    }
  });
  const seconds = seen.at(-1)![0] / 1_000;
  const used = cpuSecondsOfTree(services.control.pid) - cpu;
  const meanwhile = await stop();
  const cancelling = performance.now();
  await ours('POST', `/campaigns/${campaign.id}/cancel`);
  const cancelled = (performance.now() - cancelling) / 1_000;
  while ((await ours('GET', '/scans?status=running,crawled,checking&limit=1')).total) await pause(200);
  return { accepted, seconds, cpu: used, alone, meanwhile, hold: hold.cpu, cancelled, seen };
}

const rounds: Awaited<ReturnType<typeof round>>[] = [];
try {
  for (let done = 0; done < ROUNDS; done += 1) {
    rounds.push(await round());
    const { seen: _, alone, meanwhile, ...figures } = rounds.at(-1)!;
    console.log({ ...figures, alone: median(alone), meanwhile: median(meanwhile), scans: meanwhile.length });
  }
} finally {
  await fleet.kill();
  await services.stop();
}

type Round = (typeof rounds)[number];
const figures = (of: (round: Round) => number) => {
  const values = rounds.map(of);
  return { middle: median(values), text: `${figure(Math.min(...values))} to ${figure(Math.max(...values))}` };
};
const accepted = figures((one) => one.accepted);
const created = figures((one) => one.seconds);
const longer = figures(({ alone, meanwhile }) => median(meanwhile) - median(alone));
const longer95 = figures(({ alone, meanwhile }) => percentile(meanwhile, 0.95) - percentile(alone, 0.95));
const row = (what: string, { middle, text }: { middle: number; text: string }, limit = ''): string =>
  `| ${what} | ${figure(middle)} | ${text} | ${limit} |`;

const title = `A campaign of ${SCANS.toLocaleString('en')} scans`;
const file = saveResult('campaign', [
  `# ${title}`,
  `${machine()}. ${COUNTRIES} countries, ${DEVICES} devices, ${REPEATS} repeats; ${ROUNDS} rounds, medians and ranges. One control plane with every role on the embedded store, its Redis, the proxy-router and ${NODES} simulated nodes of ${SLOTS} slots, all on this machine; a capture takes ${CAPTURE_MS[0] / 1000} to ${CAPTURE_MS[1] / 1000} s. Another organization creates a scan every ${OTHERS_EVERY_MS} ms, before each round alone. The campaign's organization may use half of the slots, so that the other's wait is that for its turn and not for a slot.`,
  [
    '| | median | range | at most |',
    '|---|--:|--:|--:|',
    row('ms until the run is accepted', accepted, String(ACCEPTED_MAX_MS)),
    row('seconds until all scans are created', created, String(CREATED_MAX_S)),
    row(
      'CPU seconds of the control plane meanwhile, with the other scans and the first captures',
      figures((one) => one.cpu),
    ),
    row(
      'longest hold of its event loop, CPU ms',
      figures(({ hold }) => hold),
    ),
    row(
      'other scans, ms from POST to lease, alone: median',
      figures(({ alone }) => median(alone)),
    ),
    row(
      'the same while the run is created',
      figures(({ meanwhile }) => median(meanwhile)),
    ),
    row('how much longer', longer, String(LONGER_MAX_MS)),
    row(
      'other scans alone: 95th percentile',
      figures(({ alone }) => percentile(alone, 0.95)),
    ),
    row(
      'the same while the run is created',
      figures(({ meanwhile }) => percentile(meanwhile, 0.95)),
    ),
    row('how much longer', longer95, String(LONGER_P95_MAX_MS)),
    row(
      'seconds to cancel what waits of the run',
      figures(({ cancelled }) => cancelled),
    ),
  ].join('\n'),
  `![scans over time](${new Date().toISOString().slice(0, 10)}-campaign.svg)`,
]);

/** The scans of a run that existed at the end of each second. */
const bySecond = ({ seen }: Round, seconds: number): number[] =>
  Array.from({ length: seconds + 1 }, (_, at) => seen.findLast(([ms]) => ms <= at * 1_000)?.[1] ?? 0);
const seconds = Math.ceil(Math.max(...rounds.map((one) => one.seconds)));
const series = rounds.map((one, at) => ({
  ...{ name: `round ${at + 1}`, unit: 'scans', tolerated: 0, values: bySecond(one, seconds) },
}));
const labels = Array.from({ length: seconds + 1 }, (_, at) => String(at));
writeFileSync(
  file.replace(/\.md$/, '.svg'),
  drawSeries(title, labels, [{ title: 'Scans that exist, by seconds since the request', series }]),
);
const exceeded = [
  ...(accepted.middle > ACCEPTED_MAX_MS ? ['accepting takes too long'] : []),
  ...(created.middle > CREATED_MAX_S ? ['creating takes too long'] : []),
  ...(longer.middle > LONGER_MAX_MS || longer95.middle > LONGER_P95_MAX_MS ? ['other scans wait'] : []),
];
if (exceeded.length > 0) console.error(exceeded.join(', '));
process.exit(exceeded.length > 0 ? 1 : 0);
