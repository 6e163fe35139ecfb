import { tagsIn } from './tags-in.ts';

/** A link or button of a page: what it says, where it leads ('' = nowhere, by itself), and whether it is said to be a file. */
export type Link = { text: string; url: string; isDownload: boolean };

const LINKS_MAX = 1_000;
const CONTENT_LENGTH = 600;

/** Links and buttons in HTML as a browser serialises it. Pure. */
export function linksOf(html: string, base: string): Link[] {
  const links: Link[] = [];
  for (const { name, attributes, end } of tagsIn(html, ['a', 'button'])) {
    if (links.length >= LINKS_MAX) break;
    const [content = ''] = html.slice(end, end + CONTENT_LENGTH).split(`</${name}>`, 1);
    const href = /\shref="([^"]*)"/.exec(attributes)?.[1];
    links.push({
      text: content
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim()
        .toLowerCase(),
      url: href ? (URL.parse(href.replaceAll('&amp;', '&'), base)?.href ?? '') : '',
      isDownload: /\sdownload(?=[\s=]|$)/.test(attributes),
    });
  }
  return links;
}
