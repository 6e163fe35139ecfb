import { readFileSync } from 'node:fs';
import { domainToASCII } from 'node:url';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { domainIssues } from '../../control-plane/src/analysis/rules/rule-types/domains.ts';
import { corpusData } from '../../shared/test/support/corpus-data.ts';
import { type Corpus, type CorpusCase, leftOut } from './corpus.ts';

const TABLE = corpusData('url/psl-tests.tsv');
const SUFFIX = 'a public suffix';

/** The public suffix list's own tests: the registrable form of a name, or that a list of domains refuses it. */
export const publicSuffixes: Corpus = { name: 'public-suffixes', open };

async function open() {
  if (TABLE.skip) return leftOut('public-suffixes', TABLE.skip);
  const [, ...lines] = readFileSync(TABLE.path, 'utf8').trim().split('\n');
  return { cases: lines.map((line) => nameCase(line.split('\t'))), close: async () => undefined };
}

function nameCase([name = '', registrable = '']: string[]): CorpusCase {
  const expected = registrable === 'null' ? SUFFIX : domainToASCII(registrable);
  return { subject: 'public_suffixes', name, expected: [expected], run: async () => [formOf(name)] };
}

function formOf(name: string): string {
  const isSuffix = domainIssues(name, 0).some(({ type }) => type === 'public_suffix');
  return isSuffix ? SUFFIX : registrableDomain(domainToASCII(name));
}
