import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { domainToASCII } from 'node:url';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { domainIssues } from '../../control-plane/src/analysis/rules/rule-types/domains.ts';
import type { Corpus, CorpusCase } from './corpus.ts';

const TABLE = join(import.meta.dirname, '../../../shared/data/url/psl-tests.tsv');
const SUFFIX = 'a public suffix';

/** The public suffix list's own tests: the registrable form of a name, or that a list of domains refuses it. */
export const publicSuffixes: Corpus = { name: 'public-suffixes', open };

async function open() {
  if (!existsSync(TABLE)) {
    console.log(`public-suffixes: skipped, there is no ${TABLE}`);
    return null;
  }
  const [, ...lines] = readFileSync(TABLE, 'utf8').trim().split('\n');
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
