import { readFileSync } from 'node:fs';
import { threadCpu } from '../../control-plane/src/analysis/rules/search/budget.ts';
import { compileExpression, expressionProblem } from '../../control-plane/src/analysis/rules/search/expression.ts';
import { corpusData } from '../../shared/test/support/corpus-data.ts';
import { type Corpus, type CorpusCase, leftOut } from './corpus.ts';

/** The budget of a whole scan, unless the operator sets another (README of the control plane). */
const BUDGET_MS = 2_000;
const TEXT_MAX = 20_000;

/** A pattern, whether RE2 accepts it, and texts on which a backtracking engine does not finish: parts with their repetitions. */
type Pattern = { pattern: string; re2Ok: boolean; attacks?: { parts?: { s: string; n: number }[] }[] };

/** Expressions from real projects: rejected exactly if RE2 rejects them, and no attack text uses up the CPU budget. */
export const expressions: Corpus = { name: 'expressions', open };

async function open() {
  const files = ['et-uri-pcre', 'regexlib-patterns', 'redos-regexlib'].map((name) => corpusData(`regex/${name}.json`));
  const missing = files.map(({ skip }) => skip).find(Boolean);
  if (missing) return leftOut('expressions', missing);
  const [signatures, written, attacked] = files.map(({ path }): Pattern[] =>
    JSON.parse(readFileSync(path, 'utf8')),
  ) as [Pattern[], Pattern[], Pattern[]];
  const cases = [
    ...signatures.map((one, at) => patternCase('et_expressions', one, at)),
    ...written.map((one, at) => patternCase('regexlib_expressions', one, at)),
    ...attacked.map((one, at) => patternCase('redos_expressions', one, at)),
    ...attacked.flatMap(attackCases),
  ];
  return { cases, close: async () => undefined };
}

function patternCase(subject: string, { pattern, re2Ok }: Pattern, at: number): CorpusCase {
  const run = async () => [expressionProblem(pattern) === null ? 'taken' : 'refused'];
  return { subject, name: `${at}`, expected: [re2Ok ? 'taken' : 'refused'], run };
}

function attackCases({ pattern, re2Ok, attacks = [] }: Pattern, at: number): CorpusCase[] {
  if (!re2Ok) return [];
  return attacks.flatMap(({ parts }, nth): CorpusCase[] => {
    if (!parts) return [];
    const text = parts.map(({ s, n }) => s.repeat(Math.min(n, TEXT_MAX / s.length))).join('');
    const run = async () => [costOf(pattern, text.slice(0, TEXT_MAX)) < BUDGET_MS ? 'in time' : 'too late'];
    return [{ subject: 'redos_attacks', name: `${at}/${nth}`, expected: ['in time'], run }];
  });
}

/** Milliseconds of CPU that a search takes. */
function costOf(pattern: string, text: string): number {
  const expression = compileExpression(pattern);
  const began = threadCpu();
  expression.find(text);
  return threadCpu() - began;
}
