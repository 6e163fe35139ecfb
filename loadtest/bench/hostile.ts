import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningFarm, type Scan, writeExits } from '../../infra/farm/test/support/running-farm.ts';
import { HOSTILE_BODIES } from './hostile-bodies.ts';
import { barChart, machine, saveResult } from './report.ts';

/**
 * Do hostile pages affect other scans? One node scans all of them, one after the other and then four at once, with a harmless page beside
 * each. Every scan of a harmless page must complete at its first attempt.
 */
const NEVER_ENDS_MS = 60_000;
const WAIT_SECONDS = 600;

/** `beside`: how long the innocent scan took, as a multiple of the time beside an idle page. */
type Result = {
  name: string;
  hostile: Scan;
  innocent: Scan & { exit: { attempts: number } | null };
  seconds: number;
  beside: number;
};
/** Twice its time alone is the most that a neighbour may take; several pairs share the machine's cores anyway. */
const BESIDE_MAX = 2;
const ALONE_ROUNDS = 3;

const ENDLESS_BYTES = Buffer.alloc(256 * 1024, 'x');

/** `npm run bench hostile -- memory`: those whose name holds the word. */
const word = process.argv[2] ?? '';
const names = Object.keys(HOSTILE_BODIES).filter((name) => name.includes(word));
const hostOf = (name: string) => `page-${names.indexOf(name)}.hostile.example`;

/** A service worker that answers every request itself with a page that reloads. */
const RELOAD = `onfetch = (event) => event.respondWith(new Response('<script>location.reload()</script>', { headers: { 'content-type': 'text/html' } }));`;

function sendWithoutEnd(response: http.ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(ENDLESS_BYTES));
  };
  response.on('drain', more);
  more();
}

/** Serves every page by its host; `innocent.hostile.example` is an ordinary one. */
async function serve(): Promise<http.Server> {
  const server = http.createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
    const name = names.find((one) => hostOf(one) === request.headers.host);
    if (request.url === '/worker.js') response.setHeader('content-type', 'text/javascript').end('while(true);');
    else if (request.url === '/reload.js') response.setHeader('content-type', 'text/javascript').end(RELOAD);
    else if (request.url?.startsWith('/endless')) sendWithoutEnd(response);
    else if (request.url?.startsWith('/headers')) response.setHeader('x-large', 'x'.repeat(200_000)).end();
    else if (request.url?.startsWith('/never')) setTimeout(() => response.end(), NEVER_ENDS_MS).unref();
    else {
      const body = name && request.url?.split('?')[0] === '/' ? HOSTILE_BODIES[name] : '<h1>A page like any other</h1>';
      response
        .setHeader('content-type', 'text/html; charset=utf-8')
        .end(`<!doctype html><title>${name ? 'hostile' : 'innocent'}</title><body>${body}`);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** How long the scan of a page takes from here, in seconds. */
async function secondsUntil(ended: Promise<Scan>, began: number): Promise<number> {
  await ended;
  return (performance.now() - began) / 1000;
}

/** Seconds of an innocent scan beside another one: the median of a few. */
async function secondsAlone(farm: RunningFarm): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < ALONE_ROUNDS; round++) {
    const began = performance.now();
    const scans = await Promise.all(
      [1, 2].map((at) => farm.submit({ url: `http://innocent.hostile.example/?alone=${round}-${at}` })),
    );
    const seconds = await Promise.all(scans.map(({ id }) => secondsUntil(farm.finished(id, WAIT_SECONDS), began)));
    rounds.push(seconds[0] ?? 0);
  }
  return rounds.sort((a, b) => a - b)[Math.floor(ALONE_ROUNDS / 2)] as number;
}

async function scanPair(farm: RunningFarm, name: string, alone: number): Promise<Result> {
  const began = performance.now();
  const [hostile, innocent] = await Promise.all([
    farm.submit({ url: `http://${hostOf(name)}/` }),
    farm.submit({ url: `http://innocent.hostile.example/?beside=${names.indexOf(name)}` }),
  ]);
  const besideIt = farm.finished(innocent.id, WAIT_SECONDS);
  const innocentSeconds = secondsUntil(besideIt, began);
  const ended = await Promise.all([farm.finished(hostile.id, WAIT_SECONDS), besideIt]);
  const beside = (await innocentSeconds) / alone;
  const seconds = (performance.now() - began) / 1000;
  console.log(
    `${name}: ${ended[0].status} ${ended[0].error}, ${seconds.toFixed(1)} s; beside it: ${ended[1].status}, ${beside.toFixed(1)} times its time alone`,
  );
  return { name, hostile: ended[0], innocent: ended[1] as Result['innocent'], seconds, beside };
}

/** All pages, `width` pairs at a time. */
async function scanAll(farm: RunningFarm, width: number, alone: number): Promise<Result[]> {
  const waiting = [...names];
  const results: Result[] = [];
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      results.push(await scanPair(farm, name, alone));
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}

const isUndisturbed = ({ innocent }: Result): boolean =>
  innocent.status === 'completed' && innocent.exit?.attempts === 1;

const isFast = ({ beside }: Result): boolean => beside <= BESIDE_MAX;

const seconds = (value: number): string => value.toFixed(1);
const verdict = (results: Result[]): string =>
  `${results.filter(isUndisturbed).length} of ${results.length} innocent scans completed at their first attempt`;

const server = await serve();
const folder = mkdtempSync(join(tmpdir(), 'adsweep-hostile-'));
const exits = writeExits(folder, { '*.hostile.example': `127.0.0.1:${(server.address() as AddressInfo).port}` });
const farm = new RunningFarm({ ADSWEEP_EXITS_FILE: exits, ADSWEEP_SLOTS: '8' });
try {
  await farm.ready();
  const alone = await secondsAlone(farm);
  const inARow = await scanAll(farm, 1, alone);
  const fourAtOnce = await scanAll(farm, 4, alone);
  const rows = names.map((name) => {
    const [row, wide] = [inARow, fourAtOnce].map((results) => results.find((result) => result.name === name)!);
    const outcomeOf = ({ hostile }: Result) => `${hostile.status} ${hostile.error}`.trim();
    return `| ${name} | ${outcomeOf(row!)} | ${seconds(row!.seconds)} | ${row!.beside.toFixed(1)} | ${outcomeOf(wide!)} | ${seconds(wide!.seconds)} |`;
  });
  saveResult('hostile', [
    '# Hostile pages, with innocent ones between them',
    `One node. ${names.length} hostile pages, each with an innocent one beside it: one pair after the other, then four pairs at once. ${machine()}.`,
    `One after the other: ${verdict(inARow)}. Four at once: ${verdict(fourAtOnce)}.`,
    `An innocent scan takes ${seconds(alone)} s beside an idle page. One pair after the other, ${inARow.filter(isFast).length} of ${inARow.length} took at most ${BESIDE_MAX} times that.`,
    [
      '| hostile page | in a row | seconds | neighbour, times alone | four at once | seconds |',
      '|---|---|--:|--:|---|--:|',
      ...rows,
    ].join('\n'),
    barChart(
      'Seconds, one pair after the other',
      inARow.map((result) => [result.name, result.seconds]),
    ),
  ]);
  for (const { name, beside } of inARow.filter((result) => !isFast(result)))
    console.log(`slowed down by ${name}: ${beside.toFixed(1)} times`);
  const disturbed = [...inARow, ...fourAtOnce].filter((result) => !isUndisturbed(result));
  for (const { name, innocent } of disturbed) console.log(`disturbed by ${name}: ${JSON.stringify(innocent)}`);
  if (disturbed.length > 0) process.exitCode = 1;
} finally {
  await farm.close();
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
