import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the table of the IAB Content Taxonomy 3.0 to standard output, read from the unpacked npm package `iab-taxonomies`:
 * `node infra/tables/iab-taxonomy.ts <folder> > control-plane/src/analysis/classification/tables/iab-content-taxonomy.json`
 */
const [folder = '.'] = process.argv.slice(2);
const TABLE = 'Content Taxonomies/Content Taxonomy 3.0.tsv';
const HEADER_ROWS = 2;

type Revision = { date: string; records: string[][] };
type Row = { id: string; parent: string; name: string; tiers: string[] };

const read = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'));
const { version } = read('package.json') as { version: string };
const revisions: Revision[] = Object.values(
  read('examples/get-iab-taxonomies/data/iab-taxonomies.json')['Content Taxonomies'][TABLE],
);
const latest = revisions.toSorted((a, b) => b.date.localeCompare(a.date))[0]!;
const rows = latest.records.slice(HEADER_ROWS).map(([id, parent, name, ...tiers]): Row => {
  return { id: id!, parent: parent!, name: name!, tiers: tiers.slice(0, 4).filter(Boolean) };
});
const byId = new Map(rows.map((row) => [row.id, row]));
const isTop = ({ id, parent }: Row): boolean => parent === '' || parent === id;
const topNames = new Set(rows.filter(isTop).map(({ tiers }) => tiers[0]));

/** Some rows omit the tiers above their parent's, and one its own: they are taken from the parent and the name. */
function pathOf(row: Row): string[] {
  const { tiers, parent, name } = row;
  if (isTop(row)) return tiers;
  if (!topNames.has(tiers[0])) return [...pathOf(byId.get(parent)!), tiers.at(-1)!];
  return tiers.length === 1 ? [...tiers, name] : tiers;
}

const date = latest.date.slice(0, 10);
const source = `IAB Tech Lab, Content Taxonomy 3.0, revision of ${date}, out of the npm package iab-taxonomies ${version}`;
const categories = rows.map((row) => [row.id, ...pathOf(row)]);
process.stdout.write(JSON.stringify({ source, licence: 'CC BY 3.0', version: '3.0', categories }, null, 2));
