import { readableText } from './seen-page.ts';

/** The start tag of an element: its name, the text of its attributes, and the offset of its content. */
type StartTag = { name: string; attributes: string; end: number };

/** Longer tags are skipped: their attributes hold data. */
const TAG_LENGTH_MAX = 5_000;

/**
 * The start tags of `names` in HTML that a browser serialised, in which no attribute value contains an angle bracket.
 * Takes linear time for any HTML: no character is read twice.
 */
export function* tagsIn(html: string, names: readonly string[]): Generator<StartTag> {
  let closing = -1;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    const name = names.find((one) => html.startsWith(one, at + 1) && /[\s>]/.test(html.charAt(at + 1 + one.length)));
    if (!name) continue;
    if (closing < at) closing = html.indexOf('>', at);
    if (closing < 0) return;
    if (closing - at <= TAG_LENGTH_MAX)
      yield { name, attributes: html.slice(at + 1 + name.length, closing), end: closing + 1 };
  }
}

/**
 * A link or button of a page: its text, its URL ('' = none), whether it has a `download` attribute, and the name that
 * this gives to the file; absent: none.
 */
export type Link = { text: string; url: string; isDownload: boolean; fileName?: string };

const LINKS_MAX = 1_000;
const CONTENT_LENGTH = 600;

/**
 * An element of another name that is a button for its visitors, and the longest text of one: what is larger has buttons
 * in it.
 */
const ACTS_AS_BUTTON = /\s(role="button"|onclick=)/;
const BUTTON_LENGTH_MAX = 60;

/** Links and buttons in HTML that a browser serialised, without those in the text of scripts. Pure. */
export function linksOf(html: string, base: string): Link[] {
  const links: Link[] = [];
  let scriptEnd = 0;
  for (const { name, attributes, end } of tagsIn(html, ['a', 'button', 'div', 'span', 'script'])) {
    if (links.length >= LINKS_MAX) break;
    if (end <= scriptEnd) continue;
    if (name === 'script') {
      const closing = html.indexOf('</script', end);
      scriptEnd = closing < 0 ? html.length : closing;
      continue;
    }
    const isOther = name === 'div' || name === 'span';
    if (isOther && !ACTS_AS_BUTTON.test(attributes)) continue;
    const [content = ''] = html.slice(end, end + CONTENT_LENGTH).split(`</${name}>`, 1);
    const words = content
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    if (isOther && words.length > BUTTON_LENGTH_MAX) continue;
    const href = /\shref="([^"]*)"/.exec(attributes)?.[1];
    const fileName = /\sdownload="([^"]+)"/.exec(attributes)?.[1];
    links.push({
      text: readableText(words).trim(),
      url: href ? (URL.parse(href.replaceAll('&amp;', '&'), base)?.href ?? '') : '',
      isDownload: /\sdownload(?=[\s=]|$)/.test(attributes),
      ...(fileName !== undefined && { fileName }),
    });
  }
  return links;
}

/** Elements whose content is not text. */
const TEXTLESS = ['script', 'style'];

/** Start and end tags of elements within a line. */
const WITHIN_LINE = /^<\/?(a|abbr|b|big|code|em|font|i|kbd|mark|s|small|span|strong|sub|sup|u|wbr)[\s>]/i;

/**
 * The words of HTML that a browser serialised, shown or not, with a space or a line break for each tag. Pure; takes
 * linear time.
 */
export function wordsOf(html: string): string {
  const words: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    words.push(html.slice(at, open < 0 ? html.length : open).replace(/\s+/g, ' '));
    if (open >= 0) words.push(WITHIN_LINE.test(html.slice(open, open + 12)) ? ' ' : '\n');
    const textless = TEXTLESS.find((one) => open >= 0 && html.startsWith(one, open + 1));
    const close = open < 0 ? -1 : html.indexOf(textless ? `</${textless}` : '>', open);
    if (close < 0) break;
    at = close + (textless ? 0 : 1);
  }
  return words.join('').replaceAll('&nbsp;', ' ').replaceAll('&amp;', '&');
}
