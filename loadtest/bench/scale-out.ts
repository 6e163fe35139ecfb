import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { descendantsOf, environmentOf } from '../../infra/farm/test/support/processes-of.ts';
import { writeExits } from '../../infra/farm/test/support/running-farm.ts';
import { until } from '../../shared/test/support/until.ts';
import type { Measurement } from './measure-process.ts';
import { MeasuredFarm } from './measured-farm.ts';
import { barChart, machine, median, medianAndRange, saveResult } from './report.ts';

/**
 * Do four nodes scan four times the pages of one, while none of them needs more of the machine than it has? And how soon are the scans of a host
 * that disappears running elsewhere? Its nodes and browsers are stopped (SIGSTOP): their connections stay open and say nothing, as those of a
 * host without power do.
 *
 *     npm run bench scale-out -- [turns]
 */
const [TURNS = 3] = process.argv.slice(2).map(Number);
const [FEW, MANY] = [1, 4];
const SLOTS = 2;
/** A page's server takes so long, so that a scan waits and computes little. */
const ANSWER_MS = 8_000;
/** Pages of each slot before those that are measured, those that are, and those that keep the slots busy until the last of these. */
const [BEFORE, MEASURED, AFTER] = [1, 6, 1];
const HOSTS_LOST = 3;
const PAGE = '<!doctype html><title>Late</title><body><h1>A page like any other</h1>';

type State = { status: string; at: string };

async function measure(exits: string, nodes: number, turn: number): Promise<Measurement> {
  const farm = await start(exits, nodes);
  try {
    const slots = nodes * SLOTS;
    const urls = Array.from(
      { length: slots * (BEFORE + MEASURED + AFTER) },
      (_, at) => `http://late.example/?${turn}-${at}`,
    );
    return await farm.scanSteadily(urls, slots * BEFORE, slots * MEASURED);
  } finally {
    await farm.close();
  }
}

async function start(exits: string, nodes: number): Promise<MeasuredFarm> {
  const settings = { ADSWEEP_NODES: String(nodes), ADSWEEP_EXITS_FILE: exits };
  const farm = await new MeasuredFarm(SLOTS, settings).ready();
  // The scan of a first start.
  await farm.says(/report: /);
  await until('all nodes', async () => (await nodesOf(farm)).length === nodes, 60);
  return farm;
}

async function nodesOf(farm: MeasuredFarm): Promise<{ id: string; busy: number }[]> {
  const page = await (await farm.call('GET', '/api/v1/fleet/nodes')).json();
  return (page as { items: { id: string; busy: number }[] }).items;
}

/** All states of a scan, once it has ended. */
async function statesOf(farm: MeasuredFarm, id: string): Promise<State[]> {
  const headers = { authorization: `Bearer ${farm.apiKey}` };
  const stream = await fetch(`${farm.baseUrl}/api/v1/scans/${id}/events`, { headers });
  return [...(await stream.text()).matchAll(/^data: (.+)$/gm)].map(([, json]) => JSON.parse(json!) as State);
}

/** Stops the busiest node; returns the seconds after which each of its scans was running again elsewhere. */
async function loseHost(farm: MeasuredFarm, time: number): Promise<number[]> {
  const requested = MANY * SLOTS - SLOTS;
  const scans = await Promise.all(
    Array.from({ length: requested }, (_, at) => farm.submit({ url: `http://late.example/?lost-${time}-${at}` })),
  );
  const states = scans.map(({ id }) => statesOf(farm, id));
  const isRunning = async () => {
    const nodes = await nodesOf(farm);
    return nodes.reduce((sum, { busy }) => sum + busy, 0) === requested && nodes;
  };
  const nodes = await until('all scans at their nodes', isRunning, 30);
  const { id } = nodes.toSorted((a, b) => b.busy - a.busy)[0]!;
  const pid = Array.from({ length: MANY }, (_, at) => farm.pidOf(`browser-node ${at + 1}`)).find((one) =>
    environmentOf(String(one)).split('\0').includes(`ADSWEEP_NODE_ID=${id}`),
  );
  if (pid === undefined) throw new Error(`node ${id} has no process`);
  const all = [pid, ...descendantsOf(pid).map(Number)];
  const lostAt = Date.now();
  for (const one of all) process.kill(one, 'SIGSTOP');
  try {
    const again = (await Promise.all(states)).flatMap((of) => {
      if (of.at(-1)?.status !== 'completed') throw new Error(`a scan is ${of.at(-1)?.status}`);
      const later = of.find(({ status, at }) => status === 'running' && Date.parse(at) > lostAt);
      return later ? [(Date.parse(later.at) - lostAt) / 1000] : [];
    });
    if (again.length === 0) throw new Error('the host that was lost had no scan');
    return again;
  } finally {
    for (const one of all) process.kill(one, 'SIGCONT');
  }
}

const dir = mkdtempSync(join(tmpdir(), 'adsweep-scale-out-'));
const server = http.createServer((_, response) => {
  setTimeout(() => response.setHeader('content-type', 'text/html').end(PAGE), ANSWER_MS).unref();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
try {
  const exits = writeExits(dir, { 'late.example': `127.0.0.1:${(server.address() as AddressInfo).port}` });
  const measured = new Map<number, Measurement[]>([FEW, MANY].map((nodes) => [nodes, []]));
  for (let turn = 0; turn < TURNS; turn += 1)
    for (const nodes of turn % 2 === 0 ? [FEW, MANY] : [MANY, FEW]) {
      const one = await measure(exits, nodes, turn);
      measured.get(nodes)!.push(one);
      console.log(
        `turn ${turn + 1}, ${nodes} nodes: ${perMinute(nodes, one).toFixed(1)} pages a minute, ${cores(one).toFixed(2)} cores`,
      );
    }
  const lost: number[] = [];
  const farm = await start(exits, MANY);
  try {
    for (let time = 0; time < HOSTS_LOST; time += 1) {
      lost.push(...(await loseHost(farm, time)));
      console.log(`host lost: its scans run again after ${lost.map((seconds) => seconds.toFixed(1)).join(', ')} s`);
      // The node that was stopped replaces its browser.
      await pause(10_000);
    }
  } finally {
    await farm.close();
  }
  const rates = (nodes: number) => measured.get(nodes)!.map((one) => perMinute(nodes, one));
  const efficiencies = rates(MANY).map((rate, turn) => (rate / rates(FEW)[turn]!) * (FEW / MANY));
  const row = (nodes: number) =>
    `| ${nodes} | ${nodes * SLOTS} | ${medianAndRange(rates(nodes), 1)} | ${medianAndRange(measured.get(nodes)!.map(cores))} |`;
  saveResult('scale-out', [
    '# Four nodes beside one',
    `${machine()}. A whole farm by \`npm start\` with ${FEW} and ${MANY} nodes of ${SLOTS} slots in turn, ${TURNS} turns of ${MEASURED} pages of each slot after ${BEFORE}; the server of a page answers after ${ANSWER_MS / 1000} s, so that scans wait more than they compute: the nodes share ${cpus().length} cores.`,
    [
      '| nodes | slots | pages a minute | cores used by the whole farm |',
      '|--:|--:|--:|--:|',
      row(FEW),
      row(MANY),
    ].join('\n'),
    barChart('pages a minute', [
      [`${FEW} node`, median(rates(FEW))],
      [`${MANY} nodes`, median(rates(MANY))],
    ]),
    `Efficiency of ${MANY} nodes (1: ${MANY} times the pages of one): ${medianAndRange(efficiencies)}.`,
    `A host that disappears: ${HOSTS_LOST} times, all processes of the busiest of ${MANY} nodes were stopped while it scanned. Its ${lost.length} scans were running on another node after ${medianAndRange(lost, 1)} s, and all scans completed.`,
  ]);
} finally {
  server.close();
  rmSync(dir, { recursive: true, force: true });
}

function perMinute(nodes: number, { seconds }: Measurement): number {
  return (60 * nodes * SLOTS * MEASURED) / seconds;
}

function cores({ cpu, seconds }: Measurement): number {
  return cpu / seconds;
}
