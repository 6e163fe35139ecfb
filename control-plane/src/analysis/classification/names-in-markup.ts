import { Parser } from 'htmlparser2';

/** The names that a page gives its site in its markup, as it wrote them; '' where it gives none. */
export type MarkupNames = { openGraph: string; jsonLd: string };

/** Of a larger page the rest is not read: names stand in its head. */
const HTML_LENGTH_MAX = 500_000;
const JSON_LENGTH_MAX = 50_000;
const JSON_BLOCKS_MAX = 20;
/** Nodes of one JSON-LD block that are looked at. */
const NODES_MAX = 500;

/** Types of schema.org whose name is that of whoever runs the site, most telling first. */
const OWNERS = [
  'Brand',
  'Organization',
  'Corporation',
  'OnlineStore',
  'OnlineBusiness',
  'LocalBusiness',
  'Store',
  'WebSite',
];

/** Reads the names in a page's HTML: `og:site_name`, and JSON-LD of schema.org. Pure; takes linear time whatever the page says. */
export function namesInMarkup(html: string): MarkupNames {
  const blocks: string[] = [];
  let [openGraph, block] = ['', null as string | null];
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'meta' && attributes.property?.toLowerCase() === 'og:site_name')
        openGraph ||= attributes.content ?? '';
      block = name === 'script' && attributes.type?.toLowerCase() === 'application/ld+json' ? '' : null;
    },
    ontext(text) {
      if (block !== null && block.length < JSON_LENGTH_MAX) block += text;
    },
    onclosetag() {
      if (block !== null && blocks.length < JSON_BLOCKS_MAX) blocks.push(block);
      block = null;
    },
  });
  parser.end(html.slice(0, HTML_LENGTH_MAX));
  return { openGraph, jsonLd: nameOfOwner(blocks) };
}

function nameOfOwner(blocks: string[]): string {
  const names = new Map(blocks.flatMap(readBlock).flatMap(namesOf).toReversed());
  for (const type of OWNERS) {
    const name = names.get(type);
    if (name) return name;
  }
  return '';
}

function readBlock(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

/** Every named node with each of its types, those that stand further out first. */
function namesOf(root: unknown): [type: string, name: string][] {
  const found: [string, string][] = [];
  const nodes: unknown[] = [root];
  for (let at = 0; at < Math.min(nodes.length, NODES_MAX); at++) {
    const node = nodes[at];
    if (typeof node !== 'object' || node === null) continue;
    const { '@type': type, name } = node as { '@type'?: unknown; name?: unknown };
    if (typeof name === 'string') found.push(...[type].flat().map((one): [string, string] => [String(one), name]));
    nodes.push(...Object.values(node).slice(0, NODES_MAX));
  }
  return found;
}
