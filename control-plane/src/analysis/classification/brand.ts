import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { Parser } from 'htmlparser2';

const BRAND_LENGTH_MAX = 100;
/** Labels this short are names by their initials. */
const INITIALS_LENGTH_MAX = 3;
/** Separates the name of a page from that of its site. */
const TITLE_SEPARATOR = /\s+[|·•:»–—-]\s+|\s*[|»–—]\s*/u;

/** The parts of a landing that can name its brand; `html` '': none is stored. */
export type NamedLanding = { site_name: string; page_title: string; final_url: string; html: string };

/**
 * The brand of a landing, without a model: the name that the site gives itself (OpenGraph, then JSON-LD), else the part
 * of its title that spells its domain, else the label of its registrable domain in readable form. Null: none of them
 * names a brand.
 */
export function brandOf({ site_name, page_title, final_url, html }: NamedLanding): string | null {
  const { openGraph, jsonLd } = namesInMarkup(html);
  return (
    ownName(openGraph) ??
    ownName(site_name) ??
    ownName(jsonLd) ??
    nameInTitle(page_title, final_url) ??
    nameOfDomain(final_url)
  );
}

function ownName(siteName: string): string | null {
  const name = siteName.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return /[\p{L}\p{N}]/u.test(name) ? name.slice(0, BRAND_LENGTH_MAX).trim().toWellFormed() : null;
}

/**
 * The part of a title that equals the domain's label except for case, spaces and punctuation: `Acme Shoes` for
 * `acmeshoes.example`.
 */
function nameInTitle(title: string, url: string): string | null {
  const label = labelOf(url);
  const spelled = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
  const part = title.split(TITLE_SEPARATOR).find((one) => label !== null && spelled(one) === spelled(label));
  return part === undefined ? null : ownName(part);
}

function nameOfDomain(url: string): string | null {
  const words = (labelOf(url) ?? '').split(/[-_]+/).filter(Boolean);
  return words.length === 0 ? null : words.map(readable).join(' ').slice(0, BRAND_LENGTH_MAX);
}

/** The first label of a URL's registrable domain, in Unicode; null: it has none. */
function labelOf(url: string): string | null {
  if (!/^https?:/i.test(url)) return null;
  const domain = registrableDomain(url);
  if (domain === '' || isIP(domain) !== 0 || !domain.includes('.')) return null;
  return domainToUnicode(domain).split('.')[0] ?? null;
}

function readable(word: string): string {
  if (word.length <= INITIALS_LENGTH_MAX) return word.toUpperCase();
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The names that a page's HTML gives its site, unchanged; '' = none. */
type MarkupNames = { openGraph: string; jsonLd: string };

/** Only the beginning of a larger page is read: names are in its head. */
const HTML_LENGTH_MAX = 500_000;
const JSON_LENGTH_MAX = 50_000;
const JSON_BLOCKS_MAX = 20;
/** Nodes of one JSON-LD block that are read. */
const NODES_MAX = 500;

/** Types of schema.org that name the operator of a site, most specific first. */
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

/**
 * Reads the names in a page's HTML: `og:site_name`, and JSON-LD of schema.org. Pure; takes linear time for any HTML.
 */
function namesInMarkup(html: string): MarkupNames {
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

/** Every named node with each of its types, outer nodes first. */
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
