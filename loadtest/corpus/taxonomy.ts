import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IAB_CATEGORIES, iabTiers } from '../../control-plane/src/analysis/classification/iab-taxonomy.ts';
import type { Corpus, CorpusCase } from './corpus.ts';

const TABLE = join(import.meta.dirname, '../../../shared/data/taxonomy/content-taxonomy-3.0.tsv');
const HEADER_ROWS = 2;
const FIRST_TIER = 3;

/** Each category of the IAB Content Taxonomy 3.0 as the standard's own table has it, and that there are no others. */
export const taxonomy: Corpus = { name: 'taxonomy', open };

async function open() {
  if (!existsSync(TABLE)) {
    console.log(`taxonomy: skipped, there is no ${TABLE}`);
    return null;
  }
  const lines = readFileSync(TABLE, 'utf8').split(/\r?\n/).slice(HEADER_ROWS);
  const rows = lines.map((line) => line.split('\t')).filter(([id]) => id);
  return { cases: [...rows.map(categoryCase), countCase(rows.length)], close: async () => undefined };
}

function categoryCase([id = '', ...rest]: string[]): CorpusCase {
  const tiers = rest.slice(FIRST_TIER - 1, FIRST_TIER + 3).filter(Boolean);
  return { subject: 'iab_content_3_0', name: id, expected: [tiers.join('/')], run: async () => pathOf(id) };
}

function pathOf(id: string): string[] {
  const found = iabTiers(id);
  return found ? [[found.tier1, found.tier2, found.tier3, found.tier4].filter(Boolean).join('/')] : [];
}

function countCase(count: number): CorpusCase {
  const run = async () => [`${IAB_CATEGORIES.length} categories`];
  return { subject: 'iab_content_3_0', name: 'count', expected: [`${count} categories`], run };
}
