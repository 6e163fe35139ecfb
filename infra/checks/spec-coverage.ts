import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTests } from './find-tests.ts';

/** A rule of `control-plane/CONTRACT.md`: its number, its words, and whether it is served yet. */
export type Rule = { id: string; text: string; later: boolean };
/** A test whose name begins with the numbers of the rules it holds: `§4.2.7 a value above ...`, `§2.5.8 §3.2 ...`. */
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

/** What the tests of one file cite. */
export function readCitations(file: string, source: string): Citation[] {
  return [...source.matchAll(TEST_NAME)].flatMap(([, , title = '']) => {
    const name = title.replace(/^(§[\d.]+ )+/, '');
    return [...title.matchAll(/§([\d.]+) /g)].map(([, id = '']) => ({ id, file, name }));
  });
}

/** What is wrong with the citations: tests of rules that are not in the contract, and rules given twice. */
export function citationProblems(rules: Rule[], citations: Citation[]): string[] {
  const ids = rules.map(({ id }) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `CONTRACT.md has §${id} twice`);
  const unknown = citations
    .filter(({ id }) => !ids.includes(id))
    .map(({ id, file, name }) => `${file}: "${name}" cites §${id}, which CONTRACT.md does not have`);
  return [...twice, ...unknown];
}

/** The contract's rules and what the tests below `root` cite. */
export function readCoverage(root: string): { rules: Rule[]; citations: Citation[] } {
  const { together, alone } = findTests(root, []);
  const citations = [...together, ...alone].flatMap((file) =>
    readCitations(file, readFileSync(join(root, file), 'utf8')),
  );
  return { rules: readRules(readFileSync(join(root, 'control-plane/CONTRACT.md'), 'utf8')), citations };
}

/** The report: every rule with its tests; what no test holds is marked, and so are the sections that it is in. */
export function coverageReport(rules: Rule[], citations: Citation[]): string {
  const rulesOf = (id: string) => rules.filter((rule) => isRule(rule, rules) && `${rule.id}.`.startsWith(`${id}.`));
  const isHeld = ({ id }: Rule) => citations.some((citation) => citation.id === id);
  const stateOf = ({ id }: Rule): string => {
    const served = rulesOf(id).filter(({ later }) => !later);
    if (!served.every(isHeld)) return '✘';
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
  const held = served.filter(isHeld).length;
  return [
    ...lines,
    '',
    `${held} of ${served.length} rules that are served have a test; ${all.length - served.length} are not served yet.`,
  ].join('\n');
}

/** Whether this is a rule, and no section of rules. */
const isRule = ({ id }: Rule, rules: Rule[]): boolean => !rules.some((other) => other.id.startsWith(`${id}.`));

if (import.meta.main) {
  const { rules, citations } = readCoverage(join(import.meta.dirname, '../..'));
  console.log(coverageReport(rules, citations));
}
