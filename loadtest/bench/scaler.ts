import { writeFileSync } from 'node:fs';
import { simulateYear, type Tick, waitBounds } from '../../control-plane/test/support/simulated-year.ts';
import { drawSeries } from './growth-series.ts';
import { machine, saveResult } from './report.ts';

/** Draws the year that the tests simulate (control-plane/test/crawling/scaler), in steps of 30 s. `npm run bench scaler -- [seed]` */
const [SEED = 7] = process.argv.slice(2).map(Number);
const [TICK_MS, DAY_MS] = [30_000, 86_400_000];
const LIMITS = { min: 1, max: 24, coolDownMs: 600_000 };
const WEEKS = 52;

type Week = { need: number; nodes: number; bulk: number; campaign: number };
const weeks: Week[] = Array.from({ length: WEEKS }, () => ({ need: 0, nodes: 0, bulk: 0, campaign: 0 }));
const sums = { need: 0, nodes: 0, ticks: 0 };
const began = process.cpuUsage();
const seen = (tick: Tick) => {
  const week = weeks[Math.min(WEEKS - 1, Math.floor(tick.at / DAY_MS / 7))]!;
  week.need = Math.max(week.need, tick.need);
  week.nodes = Math.max(week.nodes, tick.nodes);
  week.bulk = Math.max(week.bulk, tick.oldest.bulk);
  week.campaign = Math.max(week.campaign, tick.oldest.campaign);
  sums.need += tick.need;
  sums.nodes += tick.nodes;
  sums.ticks += 1;
};
const { started, drained } = simulateYear({ days: WEEKS * 7, tickMs: TICK_MS, limits: LIMITS, seed: SEED }, seen);
const { user, system } = process.cpuUsage(began);

const of = (name: keyof Week) => weeks.map((week) => week[name]);
const line = (name: string, unit: string, values: number[]) => ({ name, unit, tolerated: 0, values });
const bounds = waitBounds(TICK_MS);
const lived = drained.map(({ livedMs }) => livedMs / 60_000).sort((a, b) => a - b);
const title = 'A simulated year under the scaler';
const file = saveResult('scaler', [
  `# ${title}`,
  `${machine()}. Waves over the day, lower at weekends, about two campaigns of 200 to 1,200 scans a day, jobs of 12 s, 3 hosts with up to 8 nodes of 4 slots that need 45 s to start; two hosts that are away once (in weeks 9 and 22), four new images and a bad one; steps of 30 s, a cool-down of 10 min, seed ${SEED}. ${sums.ticks.toLocaleString('en')} steps took ${((user + system) / 1e6).toFixed(1)} s of CPU.`,
  [
    '| | |',
    '|---|--:|',
    `| nodes that the work needed, mean | ${(sums.need / sums.ticks).toFixed(2)} |`,
    `| nodes there, mean | ${(sums.nodes / sums.ticks).toFixed(2)} |`,
    `| most nodes | ${Math.max(...of('nodes'))} |`,
    `| starts a day | ${(started / (WEEKS * 7)).toFixed(1)} |`,
    `| minutes that a drained node had lived: least, median | ${lived[0]?.toFixed(0)}, ${lived[lived.length >> 1]?.toFixed(0)} |`,
    `| longest wait of a bulk job, s (its class may wait ${bounds.bulk} with start and steps) | ${Math.max(...of('bulk')).toFixed(0)} |`,
    `| longest wait of a job of a campaign, s (${bounds.campaign}) | ${Math.max(...of('campaign')).toFixed(0)} |`,
  ].join('\n'),
  `![nodes and waits, the most of each week](${new Date().toISOString().slice(0, 10)}-scaler.svg)`,
]);
writeFileSync(
  file.replace(/\.md$/, '.svg'),
  drawSeries(
    title,
    weeks.map((_, at) => (at % 8 === 0 ? String(at) : '')),
    [
      {
        title: 'Nodes, the most of each week',
        series: [line('needed', '', of('need')), line('there', '', of('nodes'))],
      },
      {
        title: 'Longest wait of each week, s',
        series: [line('bulk', 's', of('bulk')), line('campaign', 's', of('campaign'))],
      },
    ],
  ),
);
