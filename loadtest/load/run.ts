import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine, saveResult } from '../bench/report.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { drawRun } from './draw-run.ts';
import { compareQuantities, type Quantity, textOf } from './quantities.ts';
import { type NodeKind, runScenario } from './run-scenario.ts';

/**
 * Runs a scenario against a farm of its own, and saves what happened in `loadtest/results`; or compares two such results. Exits with 1 if the run
 * had an error or was too slow.
 *
 *     npm run loadtest -- <scenario> [--nodes simulated|real] [--minutes n]
 *     npm run loadtest -- compare <result> <result>
 */
const SCENARIOS = join(import.meta.dirname, '../scenarios');
const RESULTS = join(import.meta.dirname, '../results');
/** A chart has twelve slices. */
const MINUTES_MIN = 0.25;

type Result = { scenario: string; nodes: NodeKind; minutes: number; quantities: Record<string, Quantity> };

const names = readdirSync(SCENARIOS)
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => name !== 'scenario');

function usage(problem: string): never {
  console.error(
    `${problem}\n\nnpm run loadtest -- <scenario> [--nodes simulated|real] [--minutes n]\nnpm run loadtest -- compare <result> <result>\n\nscenarios: ${names.join(', ')}`,
  );
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { nodes: { type: 'string' }, minutes: { type: 'string' } } });
  } catch (error) {
    return usage((error as Error).message);
  }
}

/** A result by its name in `loadtest/results`, such as `2026-11-27-load-steady-simulated`, or by its path. */
const readResult = (name: string): Result =>
  JSON.parse(readFileSync(name.endsWith('.json') ? name : join(RESULTS, `${name}.json`), 'utf8')) as Result;

function compare([first = '', second = '']: string[]): void {
  if (second === '') usage('compare takes two results');
  const [before, after] = [readResult(first), readResult(second)];
  const about = ({ scenario, nodes, minutes }: Result) => `${scenario}, ${nodes} nodes, ${minutes} min`;
  console.log(
    `first: ${about(before)}\nsecond: ${about(after)}\n\n${compareQuantities(before.quantities, after.quantities)}`,
  );
}

async function run(name: string, kind: NodeKind, asked: string | undefined): Promise<number> {
  const { scenario } = (await import(join(SCENARIOS, `${name}.ts`))) as { scenario: Scenario };
  const minutes = asked === undefined ? scenario.minutes : Number(asked);
  if (!(minutes >= MINUTES_MIN && minutes <= 24 * 60)) usage(`--minutes is a number from ${MINUTES_MIN} to 1440`);
  console.log(`${name}: ${scenario.what}\n${minutes} minutes, ${kind} nodes`);
  const { samples, quantities, problems } = await runScenario(scenario, { kind, minutes, say: console.log });
  const title = `Load: ${name}`;
  const file = saveResult(`load-${name}-${kind}`, [
    `# ${title}`,
    `${machine()}. ${scenario.what} ${minutes} minutes; ${kind} nodes of ${scenario.slots} slots; control plane with every role on the embedded store, its Redis, the proxy-router and the nodes on this machine. Values are of each second, or of each scan.`,
    [
      '| | median (range) | 95 % below |',
      '| --- | --: | --: |',
      ...Object.entries(quantities).map(
        ([what, one]) => `| ${what}, ${one.unit} | ${textOf(one)} | ${one.p95.toFixed(1)} |`,
      ),
    ].join('\n'),
    problems.length === 0 ? 'No errors.' : `**The run has failed**: ${problems.join('; ')}.`,
    `![${title}](<!-- chart -->)`,
  ]);
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('<!-- chart -->', file.split('/').at(-1)!.replace(/md$/, 'svg')),
  );
  writeFileSync(file.replace(/md$/, 'svg'), drawRun(title, samples));
  const result: Result = { scenario: name, nodes: kind, minutes, quantities };
  writeFileSync(file.replace(/md$/, 'json'), `${JSON.stringify(result, null, 2)}\n`);
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

const { positionals, values } = readArguments();
const [what = '', ...others] = positionals;
const kind = values.nodes ?? 'simulated';
if (what === 'compare') compare(others);
else if (!names.includes(what)) usage(what === '' ? 'name a scenario' : `there is no scenario ${what}`);
else if (kind !== 'simulated' && kind !== 'real') usage('--nodes is simulated or real');
else process.exit(await run(what, kind, values.minutes));
