import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTests } from './find-tests.ts';

/** A rule of `control-plane/CONTRACT.md`: its number, its text, and whether it is implemented later. */
export type Rule = { id: string; text: string; later: boolean };
/** A test whose name begins with the numbers of the rules it tests: `§4.2.7 a value above ...`, `§2.5.8 §3.2 ...`. */
export type Citation = { id: string; file: string; name: string };

const RULE = /^- §([\d.]+) (.*)$/;
const SECTION = /^#{2,3} §([\d.]+) (.*)$/;
const TEST_NAME = /\b(?:test|it|describe)(?:\.\w+)?\(\s*(['"`])((?:§[\d.]+ )+.*?)\1/gs;

/** The rules and sections of the contract in their order. */
export function readRules(contract: string): Rule[] {
  const rules: Rule[] = [];
  for (const line of contract.split('\n')) {
    const [, id, text] = RULE.exec(line) ?? SECTION.exec(line) ?? [];
    if (id !== undefined) rules.push({ id, text: text ?? '', later: false });
    else if (rules.length > 0 && line.startsWith('  ')) rules.at(-1)!.text += ` ${line.trim()}`;
  }
  return rules.map(({ id, text }) => ({ id, text: text.replace(/ \*later\*$/, ''), later: text.endsWith('*later*') }));
}

/** The citations in the test names of one file. */
export function readCitations(file: string, source: string): Citation[] {
  return [...source.matchAll(TEST_NAME)].flatMap(([, , title = '']) => {
    const name = title.replace(/^(§[\d.]+ )+/, '');
    return [...title.matchAll(/§([\d.]+) /g)].map(([, id = '']) => ({ id, file, name }));
  });
}

/** Problems: tests that cite rules which are not in the contract, and rules that occur twice. */
export function citationProblems(rules: Rule[], citations: Citation[]): string[] {
  const ids = rules.map(({ id }) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `CONTRACT.md has §${id} twice`);
  const unknown = citations
    .filter(({ id }) => !ids.includes(id))
    .map(({ id, file, name }) => `${file}: "${name}" cites §${id}, which CONTRACT.md does not have`);
  return [...twice, ...unknown];
}

/** The contract's rules and the citations of the tests below `root`. */
export function readCoverage(root: string): { rules: Rule[]; citations: Citation[] } {
  const { withoutBrowser, withBrowser } = findTests(root, []);
  const citations = [...withoutBrowser, ...withBrowser].flatMap((file) =>
    readCitations(file, readFileSync(join(root, file), 'utf8')),
  );
  return { rules: readRules(readFileSync(join(root, 'control-plane/CONTRACT.md'), 'utf8')), citations };
}

/** The report: every rule with its tests. Rules without a test are marked, and so are their sections. */
export function coverageReport(rules: Rule[], citations: Citation[]): string {
  const rulesOf = (id: string) => rules.filter((rule) => isRule(rule, rules) && `${rule.id}.`.startsWith(`${id}.`));
  const isTested = ({ id }: Rule) => citations.some((citation) => citation.id === id);
  const stateOf = ({ id }: Rule): string => {
    const served = rulesOf(id).filter(({ later }) => !later);
    if (!served.every(isTested)) return '✘';
    return served.length > 0 ? '✔' : '…';
  };
  const lines = rules.map((rule) => {
    const tests = citations.filter(({ id }) => id === rule.id);
    return [
      `${stateOf(rule)} §${rule.id} ${rule.text}`,
      ...tests.map(({ file, name }) => `      ${file}: ${name}`),
    ].join('\n');
  });
  const all = rules.filter((rule) => isRule(rule, rules));
  const served = all.filter(({ later }) => !later);
  const tested = served.filter(isTested).length;
  return [
    ...lines,
    '',
    `${tested} of ${served.length} rules that are served have a test; ${all.length - served.length} are not served yet.`,
  ].join('\n');
}

/** Whether this is a rule and not a section of rules. */
const isRule = ({ id }: Rule, rules: Rule[]): boolean => !rules.some((other) => other.id.startsWith(`${id}.`));

if (import.meta.main) {
  const { rules, citations } = readCoverage(join(import.meta.dirname, '../..'));
  console.log(coverageReport(rules, citations));
}
