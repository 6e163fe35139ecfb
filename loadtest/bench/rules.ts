import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { PackedScan } from '../../control-plane/src/analysis/evidence/packed-scan.ts';
import { threadCpu } from '../../control-plane/src/analysis/rules/search/budget.ts';
import { compileExpression } from '../../control-plane/src/analysis/rules/search/expression.ts';
import { ExpressionSet, type SetMember } from '../../control-plane/src/analysis/rules/search/expression-set.ts';
import { AnalysisThreads } from '../../control-plane/src/analysis/threads/analysis-threads.ts';
import { corpusData } from '../../shared/test/support/corpus-data.ts';
import { type LoopHold, watchLoop } from './loop-holds.ts';
import { machine, median, saveResult } from './report.ts';

/**
 * What do 1,000 expressions over the 5,000 requests of a scan cost, and does anything else wait meanwhile? The first scan after a change of
 * rules pays for automata that are made as texts need them; later scans have other URLs.
 */
const URLS = 5_000;
const PATTERNS = 1_000;
const ROUNDS = 5;
/** Requests for the search pattern by pattern, which is too slow for all of them. */
const ONE_BY_ONE_URLS = 250;
const SIGNATURES = corpusData('regex/et-uri-pcre.json').path;

type Pattern = { pattern: string; flags: '' | 'i' };

let state = 1;
/** A whole number below `bound`; the same ones at each run. */
function next(bound: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return state % bound;
}
const one = <T>(of: readonly T[]): T => of[next(of.length)]!;
const hex = () => next(0x7fffffff).toString(16);

const WORDS = ['ads', 'click', 'track', 'px', 'banner', 'news', 'img', 'lib', 'v2', 'index.php', 'a.js', 'collect'];
const request = () =>
  `https://${one(WORDS)}${next(500)}.example.com/${one(WORDS)}/${one(WORDS)}${next(9_999)}.${one(['js', 'php', 'html', 'gif'])}?id=${next(1e9)}&cb=${hex()}&u=${hex()}${hex()}`;

/** Signatures as people write them: a word, a part that changes, a parameter. */
const signature = (at: number): Pattern => ({
  pattern: `/${one(WORDS)}-${at}/[a-z0-9]{${4 + next(8)},32}\\.(?:php|js)\\?${one(['id', 'k', 'uid', 'sid'])}=[a-f0-9]{${8 + next(24)}}`,
  flags: one(['', 'i'] as const),
});

function sets(): [name: string, patterns: Pattern[]][] {
  const written: [string, Pattern[]] = [
    'written signatures',
    Array.from({ length: PATTERNS }, (_, at) => signature(at)),
  ];
  if (!existsSync(SIGNATURES)) return [written];
  const rows = JSON.parse(readFileSync(SIGNATURES, 'utf8')) as (Pattern & { re2Ok: boolean })[];
  const known = rows.filter(({ re2Ok }) => re2Ok).slice(0, PATTERNS);
  return [written, [`${known.length} of Emerging Threats`, known]];
}

/** Milliseconds of CPU of this thread, as the budget of a scan counts them. */
function cpu(work: () => void): number {
  const began = threadCpu();
  work();
  return threadCpu() - began;
}

/** The longest holds of the event loop while a thread prepared rules and ran them over a scan, and while nothing ran for as long. */
async function longestHolds(patterns: Pattern[], urls: string[]): Promise<{ meanwhile: LoopHold; idle: LoopHold }> {
  const rules = patterns.map((config, at) => ({
    ...{ id: String(at), organization_id: 'o', name: '', tag_slug: 't', target: 'page' },
    ...{ rule_type: 'regexp_request_url', config },
  }));
  const packed = (value: unknown) => gzipSync(JSON.stringify(value));
  const requests = packed(urls.map((url, id) => ({ id, url, landing: 0 })));
  const evidence: PackedScan = {
    scan: { organization_id: 'organization', ignore_first_n_domains: 0, referrer: null },
    capture: packed({ landings: [], requests: [], observations: [], notes: [] }),
    parts: { requests, documents: null, bodies: null, vastDocuments: null, creativeHtml: null },
    lost: [],
    unpackedBytesMax: 1e8,
  };
  const threads = new AnalysisThreads(1);
  const groups = [JSON.stringify(rules)];
  await threads.tryRules(evidence, ['[]'], 1).outcomes;
  const began = performance.now();
  const watch = watchLoop();
  const [outcome] = await threads.tryRules(evidence, groups, 60_000).outcomes;
  const meanwhile = watch.stop();
  const quiet = watchLoop();
  await delay(performance.now() - began);
  const idle = quiet.stop();
  await threads.close();
  if (outcome!.finished.length !== rules.length) throw new Error('the rules were not run to their end');
  return { meanwhile, idle };
}

const scans = Array.from({ length: ROUNDS + 1 }, () => Array.from({ length: URLS }, request));
const rows: string[] = [];
const holds: string[] = [];
const whole = (ms: number) => Math.round(ms).toLocaleString('en-US');
const shown = ({ clock, cpu }: LoopHold) => `${clock.toFixed(1)} (${cpu.toFixed(1)} of CPU)`;
for (const [name, patterns] of sets()) {
  let set: ExpressionSet | undefined;
  let members: SetMember[] = [];
  const preparing = cpu(() => {
    members = patterns.map((config) => ({ config, expression: compileExpression(config.pattern, config.flags) }));
    set = new ExpressionSet(members);
  });
  const matches: number[] = [];
  const [first, ...later] = scans.map((urls) =>
    cpu(() => void matches.push(urls.reduce((sum, url) => sum + set!.match(url).length, 0))),
  );
  const some = scans[0]!.slice(0, ONE_BY_ONE_URLS);
  let found = 0;
  const byOne = () =>
    cpu(() => {
      found = some.reduce((sum, url) => sum + members.filter(({ expression }) => expression.test(url)).length, 0);
    });
  byOne();
  const oneByOne = (median(Array.from({ length: 3 }, byOne)) * URLS) / ONE_BY_ONE_URLS;
  if (found !== some.reduce((sum, url) => sum + set!.match(url).length, 0))
    throw new Error('the set finds other matches than the expressions one by one');
  const figures = [preparing, first!, median(later), oneByOne].map(whole);
  const gain = `${Math.round(oneByOne / median(later))} x`;
  rows.push(`| ${name} | ${matches[0]!.toLocaleString('en-US')} | ${figures.join(' | ')} | ${gain} |`);
  const { meanwhile, idle } = await longestHolds(patterns, scans[0]!);
  holds.push(`| ${name} | ${shown(meanwhile)} | ${shown(idle)} |`);
}

saveResult('rules', [
  '# Rules over requests',
  `${URLS.toLocaleString('en-US')} URLs against ${PATTERNS.toLocaleString('en-US')} expressions. The peer, one by one, is re2js, a port of RE2 to JavaScript, and not RE2 itself, which is compiled and several times as fast. Milliseconds of CPU: preparing the expressions, the first scan, each of ${ROUNDS} later scans with other URLs (median), and pattern by pattern (from ${ONE_BY_ONE_URLS} URLs).`,
  [
    '| Expressions | matches | prepare | first scan | later scans | one by one | gain |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n'),
  'Preparing and the first scan are paid once for each version of the rules in each of two threads. RE2 makes the states of its automata when a text first needs them; most of them are made while the expressions are prepared, from sample URLs. Expressions that require a telling literal are tried on their own, where it is there, and need few.',
  '## The event loop meanwhile',
  'The longest hold in ms while a thread prepares the rules and runs the first scan, and in as long a time without anything to do.',
  ['| Expressions | meanwhile | idle |', '|---|--:|--:|', ...holds].join('\n'),
  `Machine: ${machine()}.`,
]);
