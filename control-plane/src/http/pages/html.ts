import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const fileBeside = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** What every page for people begins with: colours, letters, the frame, cards. */
export const PAGE_STYLESHEET = fileBeside('page.css');
/** The cards with forms on which people sign in. */
export const SIGN_IN_STYLESHEET = fileBeside('sign-in.css');
export const PAGE_ICON = fileBeside('icon.svg');

/**
 * Values that a template accepts: text and numbers are escaped, markup made by {@link html} is inserted as it is, null,
 * undefined and false are left out.
 */
export type Inserted = string | number | Markup | null | undefined | false | readonly Inserted[];

class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Markup that only {@link html} can create: everything inserted into it is escaped. */
export type Html = Markup;

/**
 * Writes markup. Insert into text and into double-quoted attributes only; never a URL from outside into `href` or
 * `src`.
 */
export function html(fixed: TemplateStringsArray, ...inserted: Inserted[]): Html {
  return new Markup(fixed.reduce((text, part, index) => text + render(inserted[index - 1] ?? null) + part));
}

/** Markup that a renderer has made: one that escapes everything it is given. Never for texts from outside. */
export const markup = (rendered: string): Html => new Markup(rendered);

function render(value: Inserted): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'object') return value.map(render).join('');
  return escapeMarkup(showInvisible(String(value)));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char]!);

/**
 * Invisible characters and those that change the direction of text: control, format, private use, lone surrogates,
 * fillers. Scripts and emoji need the joiners and variation selectors, which are none.
 */
const INVISIBLE = /(?![\n\r\t\u200c\u200d]|\p{VS})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{DI}\u2800]/gu;

/** Most texts, of which each character need not be tested. */
const PLAIN = /^[\x20-\x7e]*$/;

const hexOf = (char: string): string => char.codePointAt(0)!.toString(16).toUpperCase();

/**
 * Replaces invisible characters with their code points, such as `[U+202E]`: with them, a hostile title could look like
 * another one.
 */
const showInvisible = (text: string): string =>
  PLAIN.test(text) ? text : text.replace(INVISIBLE, (char) => `[U+${hexOf(char).padStart(4, '0')}]`);

/**
 * The value of a field of a form, in a double-quoted attribute or a text area: it comes back as it is, with its
 * invisible characters, which are written as references. A reference to one of U+0080 to U+009F would be another
 * character, so these stay.
 */
export const fieldValue = (value: string | number): Html =>
  new Markup(
    escapeMarkup(String(value)).replace(INVISIBLE, (char) =>
      /[\u0080-\u009f]/.test(char) ? char : `&#x${hexOf(char)};`,
    ),
  );

/** The paths of the files that every page loads. */
export type Assets = { stylesheet: string; icon: string };

/** The frame of a page; `heading` is shown beside the product's name. */
type Frame = { title: string; heading: string; footer: string };

/**
 * The head of a page that search engines do not index; `script`: the path of its module. Browsers that know
 * `rel="expect"` (HTML, section 4.6.7) first draw the page when its end, the element `page-end`, has arrived: rows that
 * arrive later would move those that are shown.
 */
export function documentHead(title: string, { stylesheet, icon }: Assets, script: string | null = null): Html {
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="stylesheet" href="${stylesheet}">
<link rel="expect" href="#page-end" blocking="render">
${script !== null && html`<script src="${script}" type="module"></script>\n`}</head>`;
}

/** An HTML document that search engines do not index. */
export function pageDocument({ title, heading, footer }: Frame, assets: Assets, body: Html): string {
  return html`<!doctype html>
<html lang="en">
${documentHead(title, assets)}
<body>
<header class="top"><span class="brand">${LOGO}Adsweep</span><span>${heading}</span></header>
<main>${body}</main>
<footer id="page-end">${footer}</footer>
</body>
</html>
`.toString();
}

/** The mark beside the product's name. */
export const LOGO = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="M12 12 19 5M12 6a6 6 0 1 0 6 6"/></svg>`;
