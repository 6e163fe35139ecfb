import MarkdownIt, { type Token } from 'markdown-it';
import { type Html, markup } from '../pages/html.ts';

export type Heading = { id: string; text: string; level: number };

/** A part of a document, from one heading to the next: what a search finds. */
export type Section = { id: string; heading: string; text: string; code: string };

/** A document as it is shown. The first heading is its title. */
export type Rendered = { title: string; body: Html; headings: Heading[]; sections: Section[] };

/**
 * Markup in a document is text, and a link leads only where a browser may go: the renderer escapes all that it is
 * given.
 */
const renderer = new MarkdownIt({ html: false, linkify: false, typographer: false });

renderer.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
renderer.renderer.rules.table_close = () => '</table></div>\n';
// What scrolls can be reached by keyboard.
renderer.renderer.rules.fence = (tokens, at) => {
  const { info, content } = tokens[at]!;
  const language = renderer.utils.escapeHtml(info.split(' ')[0] ?? '');
  return `<pre tabindex="0" data-language="${language}"><code>${renderer.utils.escapeHtml(content)}</code></pre>\n`;
};
// Names such as `ADSWEEP_NODE_API_PORT` break between their words.
renderer.renderer.rules.code_inline = (tokens, at) =>
  `<code>${renderer.utils.escapeHtml(tokens[at]!.content).replaceAll(/(?<=\w)[_.](?=\w)/g, '$&<wbr>')}</code>`;

/**
 * A Markdown text as a page. Links to other documents (`name.md`), and to other pages of the service (`/docs/api`),
 * lead there from a page that is `root` away from the root of the service. Throws without a title. Pure.
 */
export function renderDocument(text: string, root: string): Rendered {
  const tokens = renderer.parse(text, {});
  const headings: Heading[] = [];
  const sections: Section[] = [];
  const used = new Set<string>();
  labelCells(tokens);
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const inline = tokens[at + 1]!;
      const heading = plainText(inline.children ?? []);
      const id = unusedId(heading, used);
      token.attrSet('id', id);
      headings.push({ id, text: heading, level: Number(token.tag.slice(1)) });
      sections.push({ id, heading, text: '', code: '' });
    } else if (token.type === 'fence') {
      const last = sections.at(-1);
      if (last) last.code += token.content;
    } else if (token.type === 'inline') {
      for (const child of token.children ?? []) if (child.type === 'link_open') turnLink(child, root);
      if (tokens[at - 1]?.type !== 'heading_open') addText(sections, plainText(token.children ?? []));
    }
  }
  const [title] = headings;
  if (title?.level !== 1) throw new Error('a document begins with its title');
  const body = markup(renderer.renderer.render(tokens, renderer.options, {}));
  return { title: title.text, body, headings: headings.slice(1), sections };
}

/** Notes at each cell which column it is in, which a narrow window shows beside it. */
function labelCells(tokens: Token[]): void {
  let labels: string[] = [];
  let column = 0;
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'thead_open') labels = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') labels.push(plainText(tokens[at + 1]?.children ?? []));
    if (token.type === 'td_open') token.attrSet('data-label', labels[column++] ?? '');
  }
}

const plainText = (tokens: Token[]): string =>
  tokens.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('');

function addText(sections: Section[], text: string): void {
  const last = sections.at(-1);
  if (last) last.text += `${text} `;
}

/**
 * As GitHub names headings, so that links work there too: in lower case, with hyphens for spaces, without other signs.
 */
export const headingId = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

function unusedId(heading: string, used: Set<string>): string {
  const base = headingId(heading);
  let id = base;
  for (let n = 1; used.has(id); n++) id = `${base}-${n}`;
  used.add(id);
  return id;
}

function turnLink(link: Token, root: string): void {
  const href = String(link.attrGet('href') ?? '');
  const turned = href
    .replace(/^\/(?!\/)/, root)
    .replace(/^([\w-]+)\.md(?=#|$)/, (_, name: string) => root + pathOf(name));
  link.attrSet('href', turned);
}

/** Where a document is, from the root of the service: the index at `docs`, the others below it. */
export const pathOf = (name: string): string => (name === 'index' ? 'docs' : `docs/${name}`);

/**
 * The way from a page to the root of the service. Links are relative, so that it can be served below any path of its
 * host.
 */
export const rootFrom = (name: string): string => (name === 'index' ? '' : '../');
