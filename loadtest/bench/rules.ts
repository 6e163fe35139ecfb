import { existsSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { compileExpression } from '../../control-plane/src/analysis/rules/evaluation/expression.ts';
import { ExpressionSet } from '../../control-plane/src/analysis/rules/evaluation/expression-set.ts';
import { RuleThreads } from '../../control-plane/src/analysis/rules/evaluation/rule-threads.ts';
import { machine, median } from './machine.ts';
import { saveResult } from './save-result.ts';

/** What do 1,000 expressions over the 5,000 requests of a scan cost, and does anything else wait meanwhile? */
const URLS = 5_000;
const PATTERNS = 1_000;
const ROUNDS = 5;
/** Requests for the search pattern by pattern, which is too slow for all of them. */
const ONE_BY_ONE_URLS = 250;
const SIGNATURES = new URL('../../../shared/data/regex/et-uri-pcre.json', import.meta.url);

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

/** Milliseconds of CPU of this process. */
function cpu(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/** The longest time in ms for which the event loop stood still while a thread ran rules over a scan. */
async function longestHold(patterns: Pattern[], urls: string[]): Promise<number> {
  const rules = patterns.map((config, at) => {
    return {
      id: String(at),
      organization_id: 'o',
      name: '',
      tag_slug: 't',
      target: 'page',
      rule_type: 'regexp_request_url',
      config,
    };
  });
  const requests = gzipSync(JSON.stringify(urls.map((url, id) => ({ id, url, landing: 0 }))));
  const nothing = { landings: [], creative: null, creative_html: null, requests: [], ignore_first_n_domains: 0 };
  const packed = { requests, documents: null, bodies: null };
  const evidence = { ...nothing, packed, unpackedBytesMax: 1e8 };
  const threads = new RuleThreads(1);
  const groups = [JSON.stringify(rules)];
  await threads.run({ evidence, groups: ['[]'], budgetMs: 1, shared: true });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [outcome] = await threads.run({ evidence, groups, budgetMs: 60_000, shared: true });
  delay.disable();
  await threads.close();
  if (outcome!.finished.length !== rules.length) throw new Error('the rules did not come to their end');
  return delay.max / 1e6;
}

const urls = Array.from({ length: URLS }, request);
const rows: string[] = [];
for (const [name, patterns] of sets()) {
  let set: ExpressionSet | undefined;
  const compiling = cpu(() => {
    set = new ExpressionSet(patterns);
  });
  let matches = 0;
  const pass = () =>
    cpu(() => {
      matches = urls.reduce((sum, url) => sum + set!.match(url).length, 0);
    });
  const first = pass();
  const later = median(Array.from({ length: ROUNDS }, pass));
  const expressions = patterns.map(({ pattern, flags }) => compileExpression(pattern, flags));
  const some = urls.slice(0, ONE_BY_ONE_URLS);
  const byOne = () => cpu(() => some.forEach((url) => void expressions.filter((each) => each.find(url))));
  byOne();
  const oneByOne = (median(Array.from({ length: 3 }, byOne)) * URLS) / ONE_BY_ONE_URLS;
  const held = await longestHold(patterns, urls);
  const figures = [compiling, first, later, oneByOne].map((ms) => Math.round(ms).toLocaleString('en-US'));
  rows.push(
    `| ${name} | ${matches.toLocaleString('en-US')} | ${figures.join(' | ')} | ${Math.round(oneByOne / later)} x | ${held.toFixed(1)} |`,
  );
}

saveResult('rules', [
  '# Rules over requests',
  `${URLS.toLocaleString('en-US')} URLs against ${PATTERNS.toLocaleString('en-US')} expressions. Milliseconds of CPU: preparing them, a first pass, each later one (median of ${ROUNDS}), and pattern by pattern (from ${ONE_BY_ONE_URLS} URLs). Last: the longest hold of the event loop in ms, while a thread prepares them and runs the first pass.`,
  [
    '| Expressions | matches | prepare | first pass | later passes | one by one | gain | event loop held |',
    '|---|--:|--:|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n'),
  `Machine: ${machine()}.`,
]);
