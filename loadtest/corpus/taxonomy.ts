import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IAB_CATEGORIES, iabTiers } from '../../control-plane/src/analysis/classification/categories.ts';
import { corpusData } from '../../shared/test/support/corpus-data.ts';
import { type Corpus, type CorpusCase, leftOut } from './corpus.ts';

const DATA = corpusData('taxonomy');
const HEADER_ROWS = 2;
const FIRST_TIER = 3;

/** The changes of version 3.1: a new category, and the spelling of another one. */
const CHANGED_IN_3_1: Record<string, string[]> = { '700': [], '388': ['Politics/Political Issues & policy'] };

/** A category by its id and its path, tiers joined by `/`. */
type Category = { id: string; path: string };

/**
 * Each category of the IAB Content Taxonomy 3.0 as in the standard's own table, and no others. Other versions share its
 * ids: what 3.1 did not change is the same, and of the ids of 2.2 those are known that 3.0 has kept.
 */
export const taxonomy: Corpus = { name: 'taxonomy', open };

async function open() {
  if (DATA.skip) return leftOut('taxonomy', DATA.skip);
  const [own, next, old] = ['3.0', '3.1', '2.2'].map((version) => read(`content-taxonomy-${version}.tsv`));
  const kept = new Set(own!.map(({ id }) => id));
  const cases = [
    ...own!.map(({ id, path }) => pathCase('iab_content_3_0', id, [path])),
    countCase(own!.length),
    ...next!.map(({ id, path }) => pathCase('iab_content_3_1', id, CHANGED_IN_3_1[id] ?? [path])),
    ...old!.map(({ id }) => idCase('iab_content_2_2', id, kept.has(id))),
  ];
  return { cases, close: async () => undefined };
}

function read(file: string): Category[] {
  const lines = readFileSync(join(DATA.path, file), 'utf8').split(/\r?\n/).slice(HEADER_ROWS);
  const rows = lines.map((line) => line.split('\t')).filter(([id]) => id);
  return rows.map(([id = '', ...rest]) => {
    const tiers = rest.slice(FIRST_TIER - 1, FIRST_TIER + 3).filter(Boolean);
    return { id, path: tiers.join('/') };
  });
}

const pathCase = (subject: string, id: string, expected: string[]): CorpusCase => {
  return { subject, name: id, expected, run: async () => pathOf(id) };
};

function pathOf(id: string): string[] {
  const found = iabTiers(id);
  return found ? [[found.tier1, found.tier2, found.tier3, found.tier4].filter(Boolean).join('/')] : [];
}

const idCase = (subject: string, id: string, isKnown: boolean): CorpusCase => {
  return { subject, name: id, expected: isKnown ? [id] : [], run: async () => (iabTiers(id) ? [id] : []) };
};

function countCase(count: number): CorpusCase {
  const run = async () => [`${IAB_CATEGORIES.length} categories`];
  return { subject: 'iab_content_3_0', name: 'count', expected: [`${count} categories`], run };
}
