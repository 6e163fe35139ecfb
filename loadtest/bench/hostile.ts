import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EitherServer, listenEither } from '../../infra/demo/either-server.ts';
import { TEST_CERTIFICATE } from '../../infra/demo/test-certificate.ts';
import { RunningFarm, type Scan, writeExits } from '../../infra/farm/test/support/running-farm.ts';
import type { HostileTarget } from './hostile-target.ts';
import { HOSTILE_TARGETS } from './hostile-targets.ts';
import { barChart, machine, saveResult } from './report.ts';

/**
 * Do hostile pages, ads and VAST documents affect other scans? One node scans all of them: one after the other with three harmless pages
 * beside each, then four at once with one. Every scan of a harmless page must complete at its first attempt, and a hostile target that
 * `tags` names must get them.
 */
const NEVER_ENDS_MS = 60_000;
const WAIT_SECONDS = 600;

type InnocentScan = Scan & { exit: { attempts: number } | null };
/** `beside`: how long the slowest innocent scan took, as a multiple of the time beside idle pages. */
type Result = {
  target: HostileTarget;
  hostile: Scan;
  lacks: string[];
  innocents: InnocentScan[];
  seconds: number;
  beside: number;
};
/** Twice its time alone is the most that a neighbour may take; several share the machine's cores anyway. */
const BESIDE_MAX = 2;
const ALONE_ROUNDS = 3;
const [NEIGHBOURS, NEIGHBOURS_OF_FOUR] = [3, 1];

const ENDLESS_BYTES = Buffer.alloc(256 * 1024, 'x');
const FAR = 'x'.repeat(500_000);
const HOLDS_40_MB = '<script>globalThis.held = new Uint8Array(4e7).fill(1)</script>';
const GROWS_TO_450_MB =
  '<script>const held = []; setInterval(() => { if (held.length < 45) held.push(new Uint8Array(1e7).fill(1)) }, 300)</script>';
const BUSY_FOR_90_OF_100_MS =
  '<script>setInterval(() => { const until = performance.now() + 90; while (performance.now() < until); }, 10)</script>';
const EIGHT_BUSY_WORKERS =
  "<script>for (let n = 0; n < 8; n++) new Worker(URL.createObjectURL(new Blob(['for (;;);'])))</script>";
const EIGHT_AUDIO_GRAPHS =
  '<script>for (let n = 0; n < 8; n++) { const c = new OfflineAudioContext(2, 26460000, 44100); for (let i = 0; i < 60; i++) { const o = c.createOscillator(); o.connect(c.createBiquadFilter()).connect(c.destination); o.start() } c.startRendering() }</script>';
/** Only documents that are isolated by these may share memory with their workers. */
const ISOLATION = new Headers({
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
});
const SHARES_MEMORY = 'waiting on shared memory';
const COOKIES = Array.from({ length: 1_000 }, (_, at) => `c${at}=${'x'.repeat(90)}`);

/** `npm run bench hostile -- memory`: those whose name or channel holds the word. */
const word = process.argv[2] ?? '';
const targets = HOSTILE_TARGETS.filter(({ name, channel }) => `${channel}: ${name}`.includes(word));
const hostOf = (target: HostileTarget) => `target-${targets.indexOf(target)}.hostile.example`;
const requestOf = (target: HostileTarget) =>
  target.kind === 'ad_tag'
    ? { ad_tag: target.body }
    : { [target.kind]: `http${target.isSecure ? 's' : ''}://${hostOf(target)}/` };

/** The scripts of service workers, the second of which answers every request with a page that reloads, and whether each was requested. */
const SERVICE_WORKERS = new Map([
  ['/worker.js', { script: 'while(true);', isAsked: false }],
  [
    '/reload.js',
    {
      script: `onfetch = (event) => event.respondWith(new Response('<script>location.reload()</script>', { headers: { 'content-type': 'text/html' } }));`,
      isAsked: false,
    },
  ],
]);

function sendWithoutEnd(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(ENDLESS_BYTES));
  };
  response.on('drain', more);
  more();
}

/** What a target's own server answers at a path, or the page of an innocent host. */
function documentAt(target: HostileTarget | undefined, path: string): string {
  const isOwn = target && path.split('?')[0] === '/';
  if (target?.kind === 'vast_tag') return (isOwn ? target.body : target.further?.[path]) ?? '<VAST version="4.2"/>';
  const body = isOwn ? target.body : '<h1>A page like any other</h1>';
  return `<!doctype html><title>${target ? 'hostile' : 'innocent'}</title><body>${body}`;
}

/** Serves every target by its host; `innocent.hostile.example` is an ordinary page. */
function serve(): Promise<EitherServer> {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const target = targets.find((one) => hostOf(one) === request.headers.host);
    const path = request.url ?? '/';
    const worker = SERVICE_WORKERS.get(path);
    if (worker) {
      worker.isAsked = true;
      response.setHeader('content-type', 'text/javascript').end(worker.script);
    } else if (path.startsWith('/endless')) sendWithoutEnd(response);
    else if (path.startsWith('/headers')) response.setHeader('x-large', 'x'.repeat(200_000)).end();
    else if (path.startsWith('/set-cookies')) response.setHeader('set-cookie', COOKIES).end();
    else if (path.startsWith('/far')) response.writeHead(302, { location: `/far?${FAR}` }).end();
    else if (path === '/40-mb') response.setHeader('content-type', 'text/html').end(HOLDS_40_MB);
    else if (path === '/grows') response.setHeader('content-type', 'text/html').end(GROWS_TO_450_MB);
    else if (path === '/busy') response.setHeader('content-type', 'text/html').end(BUSY_FOR_90_OF_100_MS);
    else if (path === '/busy-workers') response.setHeader('content-type', 'text/html').end(EIGHT_BUSY_WORKERS);
    else if (path === '/audio-graphs') response.setHeader('content-type', 'text/html').end(EIGHT_AUDIO_GRAPHS);
    else if (path.startsWith('/never')) setTimeout(() => response.end(), NEVER_ENDS_MS).unref();
    else {
      if (target?.name === SHARES_MEMORY) response.setHeaders(ISOLATION);
      const type = target?.kind === 'vast_tag' ? 'application/xml' : 'text/html; charset=utf-8';
      response.setHeader('content-type', type).end(documentAt(target, path));
    }
  };
  return listenEither({ host: '127.0.0.1', port: 0 }, TEST_CERTIFICATE, answer, { maxHeaderSize: 1024 * 1024 });
}

const submitInnocent = (farm: RunningFarm, mark: string) =>
  farm.submit({ url: `http://innocent.hostile.example/?${mark}` });

/** Seconds of the slowest of `count` innocent scans at once: the median of a few rounds. */
async function secondsAlone(farm: RunningFarm, count: number): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < ALONE_ROUNDS; round++) {
    const began = performance.now();
    const scans = await Promise.all(
      Array.from({ length: count }, (_, at) => submitInnocent(farm, `alone=${count}-${round}-${at}`)),
    );
    await Promise.all(scans.map(({ id }) => farm.finished(id, WAIT_SECONDS)));
    rounds.push((performance.now() - began) / 1000);
  }
  return rounds.sort((a, b) => a - b)[Math.floor(ALONE_ROUNDS / 2)] as number;
}

async function scanBeside(
  farm: RunningFarm,
  target: HostileTarget,
  neighbours: number,
  alone: number,
): Promise<Result> {
  const began = performance.now();
  const hostile = await farm.submit(requestOf(target));
  const submitted = await Promise.all(
    Array.from({ length: neighbours }, (_, at) =>
      submitInnocent(farm, `beside=${targets.indexOf(target)}-${neighbours}-${at}`),
    ),
  );
  const innocents = Promise.all(submitted.map(({ id }) => farm.finished(id, WAIT_SECONDS) as Promise<InnocentScan>));
  const innocentSeconds = innocents.then(() => (performance.now() - began) / 1000);
  const ended = await farm.finished(hostile.id, WAIT_SECONDS);
  const beside = (await innocentSeconds) / alone;
  const seconds = (performance.now() - began) / 1000;
  const tags = target.tags ? await farm.tagsOf(hostile.id) : [];
  const lacks = (target.tags ?? []).filter((tag) => !tags.includes(tag) || ended.status !== 'completed');
  const result = { target, hostile: ended, lacks, innocents: await innocents, seconds, beside };
  console.log(
    `${target.channel}: ${target.name}: ${ended.status} ${ended.error.slice(0, 60)}, ${seconds.toFixed(1)} s; beside it: ${isUndisturbed(result) ? 'undisturbed' : 'DISTURBED'}, ${beside.toFixed(1)} times its time alone${lacks.length > 0 ? `; LACKS ${lacks}` : ''}`,
  );
  return result;
}

/** All targets, `width` at a time. */
async function scanAll(farm: RunningFarm, width: number, neighbours: number): Promise<Result[]> {
  const alone = await secondsAlone(farm, neighbours + 1);
  console.log(`${neighbours + 1} innocent scans at once take ${alone.toFixed(1)} s`);
  const waiting = [...targets];
  const results: Result[] = [];
  const worker = async () => {
    for (let target = waiting.shift(); target; target = waiting.shift())
      results.push(await scanBeside(farm, target, neighbours, alone));
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}

const isUndisturbed = ({ innocents }: Result): boolean =>
  innocents.every(({ status, exit }) => status === 'completed' && exit?.attempts === 1);

const isFast = ({ beside }: Result): boolean => beside <= BESIDE_MAX;

const seconds = (value: number): string => value.toFixed(1);
const verdict = (results: Result[]): string =>
  `beside ${results.filter(isUndisturbed).length} of ${results.length} targets, all innocent scans completed at their first attempt`;

const server = await serve();
const folder = mkdtempSync(join(tmpdir(), 'adsweep-hostile-'));
const exits = writeExits(folder, { '*.example': `127.0.0.1:${server.port}` });
const farm = new RunningFarm({ ADSWEEP_EXITS_FILE: exits, ADSWEEP_SLOTS: '8' });
try {
  await farm.ready();
  const inARow = await scanAll(farm, 1, NEIGHBOURS);
  const fourAtOnce = await scanAll(farm, 4, NEIGHBOURS_OF_FOUR);
  const rows = targets.map((target) => {
    const [row, wide] = [inARow, fourAtOnce].map((results) => results.find((result) => result.target === target)!);
    const outcomeOf = ({ hostile }: Result) => `${hostile.status} ${hostile.error.split(': a page')[0]}`.trim();
    return `| ${target.channel} | ${target.name} | ${outcomeOf(row!)} | ${seconds(row!.seconds)} | ${row!.beside.toFixed(1)} | ${outcomeOf(wide!)} | ${seconds(wide!.seconds)} | ${wide!.beside.toFixed(1)} |`;
  });
  const all = [...inARow, ...fourAtOnce];
  const disturbed = all.filter((result) => !isUndisturbed(result));
  const unasked = [...SERVICE_WORKERS].filter(
    ([path, { isAsked }]) => !isAsked && targets.some((one) => one.body.includes(path)),
  );
  const unjudged = all.filter(({ lacks }) => lacks.length > 0);
  saveResult('hostile', [
    '# Hostile targets, with innocent pages beside them',
    `One node. ${targets.length} hostile pages, ads and VAST documents: one after the other with ${NEIGHBOURS} innocent pages beside each, then four at once with ${NEIGHBOURS_OF_FOUR}. ${machine()}.`,
    `One after the other, ${verdict(inARow)}. Four at once, ${verdict(fourAtOnce)}.`,
    `One after the other, the slowest neighbour of ${inARow.filter(isFast).length} of ${inARow.length} took at most ${BESIDE_MAX} times its time beside idle pages; four at once, that of ${fourAtOnce.filter(isFast).length}.`,
    disturbed.length + unjudged.length + unasked.length === 0
      ? 'No errors.'
      : `**The run has failed**: innocent scans beside ${disturbed.length} targets were disturbed, ${unjudged.length} targets were not judged, ${unasked.length} service workers were not registered.`,
    [
      '| channel | hostile target | in a row | seconds | neighbours, times alone | four at once | seconds | neighbour, times alone |',
      '|---|---|---|--:|--:|---|--:|--:|',
      ...rows,
    ].join('\n'),
    barChart(
      'Seconds, one after the other',
      inARow.map((result) => [result.target.name, result.seconds]),
    ),
  ]);
  for (const { target, beside } of inARow.filter((result) => !isFast(result)))
    console.log(`slowed down by ${target.name}: ${beside.toFixed(1)} times`);
  for (const { target, innocents } of disturbed)
    console.log(`disturbed by ${target.name}: ${JSON.stringify(innocents)}`);
  for (const { target, hostile, lacks } of unjudged)
    console.log(`not judged: ${target.name}: ${hostile.status} ${hostile.error}, lacks ${lacks}`);
  if (disturbed.length + unjudged.length + unasked.length > 0) process.exitCode = 1;
} finally {
  await farm.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
