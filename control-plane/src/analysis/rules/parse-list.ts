/** The items of a pasted list, each once in its order, and how many were left out for being there already. */
export type ParsedList = { items: string[]; duplicates: number };

/**
 * Reads a list as people paste it: lines, CSV (RFC 4180, quotes included), or items separated by semicolons or tabs. Items are trimmed;
 * empty ones are no items.
 */
export function parseList(text: string): ParsedList {
  const cells = [...text.replace(/^\uFEFF/, '').matchAll(/"((?:[^"]|"")*)"|[^,;\t\r\n"]+/g)];
  const items = cells.map(([plain, quoted]) => (quoted?.replaceAll('""', '"') ?? plain).trim()).filter(Boolean);
  const unique = [...new Set(items)];
  return { items: unique, duplicates: items.length - unique.length };
}
