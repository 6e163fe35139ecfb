import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { VAST_LENGTH_MAX } from '../limits.ts';

/**
 * An element of an XML document: names without their prefixes, `text` all its own character data in a row, entities
 * decoded.
 */
export type XmlElement = { name: string; attributes: Record<string, string>; text: string; children: XmlElement[] };

/** A document that nests deeper, has more elements, or is longer than VAST_LENGTH_MAX is refused. */
const DEPTH_MAX = 60;
const ELEMENTS_MAX = 20_000;
/** The most tags, comments, sections and instructions: each costs parsing time, so they are counted first. */
const MARKUP_MAX = 3 * ELEMENTS_MAX;
const INSTRUCTIONS_MAX = 20;

const TEXT = '#text';
const CDATA = '#cdata';
const ATTRIBUTES = ':@';

// Only the predefined entities: a document cannot refer to a file, a URL or to itself.
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  attributesGroupName: false,
  cdataPropName: CDATA,
  textNodeName: TEXT,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  trimValues: false,
  maxNestedTags: DEPTH_MAX,
});

/** What is allowed before the root element; a document type definition is not. */
const PROLOG = /^\s*(?:<\?[^>]*\?>\s*|<!--(?:[^-]|-(?!->))*-->\s*)*/;

type Node = { [name: string]: Node[] | string | Record<string, string> };

/** The root element of a well-formed XML document without a document type definition; null for anything else. Pure. */
export function parseXml(document: string): XmlElement | null {
  const text = document.replace(/^\uFEFF/, '').trim();
  if (text.length > VAST_LENGTH_MAX || !text.startsWith('<')) return null;
  if (occurs(text, '<', MARKUP_MAX) || occurs(text, '<?', INSTRUCTIONS_MAX)) return null;
  if (/^<!DOCTYPE/i.test(text.slice(PROLOG.exec(text)?.[0].length ?? 0))) return null;
  try {
    if (XMLValidator.validate(text) !== true) return null;
    const roots = (parser.parse(text) as Node[]).flatMap((node) => elementOf(node, { left: ELEMENTS_MAX }, 0));
    const [root, ...more] = roots.filter(({ name }) => !name.startsWith('?'));
    return root && more.length === 0 ? root : null;
  } catch {
    return null;
  }
}

/** Whether `part` occurs more than `max` times. */
function occurs(text: string, part: string, max: number): boolean {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0 && count <= max; at = text.indexOf(part, at + part.length)) count += 1;
  return count > max;
}

/** Throws where there are too many elements, or they nest too deep. */
function elementOf(node: Node, budget: { left: number }, depth: number): XmlElement[] {
  const name = Object.keys(node).find((key) => key !== ATTRIBUTES);
  if (!name || name === TEXT || name === CDATA) return [];
  budget.left -= 1;
  if (budget.left < 0 || depth > DEPTH_MAX) throw new Error('the document is too large');
  const content = node[name] as Node[];
  return [
    {
      name: localName(name),
      attributes: attributesOf(node[ATTRIBUTES] as Record<string, string> | undefined),
      text: content.map(textOf).join(''),
      children: content.flatMap((child) => elementOf(child, budget, depth + 1)),
    },
  ];
}

function textOf(node: Node): string {
  if (typeof node[TEXT] === 'string') return decodeEntities(node[TEXT]);
  const cdata = node[CDATA];
  return Array.isArray(cdata) ? cdata.map((part) => String(part[TEXT] ?? '')).join('') : '';
}

function attributesOf(attributes: Record<string, string> = {}): Record<string, string> {
  const entries = Object.entries(attributes).filter(([name]) => !name.startsWith('xmlns'));
  return Object.fromEntries(entries.map(([name, value]) => [localName(name), decodeEntities(String(value))]));
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

const PREDEFINED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Decodes the predefined entities and character references (XML 1.0, 4.1 and 4.6). */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/gi, (whole, hex, decimal, name) => {
    if (name) return PREDEFINED[String(name).toLowerCase()] ?? whole;
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}

/** An element as XML; character data that needs escaping is written as CDATA sections. Pure. */
export function writeXml({ name, attributes, text, children }: XmlElement, indent = ''): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeAttribute(value)}"`);
  const open = `${indent}<${name}${written.join('')}`;
  const data = text.trim() === '' ? '' : characterData(text.trim());
  if (children.length === 0) return data === '' ? `${open}/>` : `${open}>${data}</${name}>`;
  const inner = children.map((child) => writeXml(child, `${indent}  `));
  return [`${open}>${data}`, ...inner, `${indent}</${name}>`].join('\n');
}

const characterData = (text: string): string =>
  /[<&>]/.test(text) ? `<![CDATA[${legal(text).replaceAll(']]>', ']]]]><![CDATA[>')}]]>` : legal(text);

const escapeAttribute = (value: string): string =>
  legal(value).replace(/[<&"\n\r\t]/g, (char) => `&#${char.charCodeAt(0)};`);

/** Without most control characters, which XML does not allow even as references (XML 1.0, 2.2). */
const legal = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  text.toWellFormed().replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '');
