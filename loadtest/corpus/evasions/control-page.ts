import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGES = join(import.meta.dirname, '../../../browser-node/test/pages');

/** A page with a known outcome, in parts: its title, its styles and other content, and its script elements. */
export type ControlPage = {
  scheme: string;
  /** The host that serves it; '': any. */
  host: string;
  expected: string[];
  title: string;
  body: string;
  scripts: string;
};

/**
 * Reads a page of `browser-node/test/pages`: `evasions/<name>`, or `<behaviour>/<name>` of the folder `behaviors`. The meta elements are those
 * of the corpus of behaviours.
 */
export function readControl(path: string): ControlPage {
  const folder = path.startsWith('evasions/') ? PAGES : join(PAGES, 'behaviors');
  return controlOf(readFileSync(join(folder, `${path}.html`), 'utf8'));
}

/** The parts of a page. Pure. */
export function controlOf(html: string): ControlPage {
  const metaOf = (name: string) => new RegExp(`<meta name="${name}" content="([^"]*)">`).exec(html)?.[1] ?? '';
  const scripts = html.match(/<script\b[\s\S]*?<\/script>/g) ?? [];
  const body = html
    .replace(/<!doctype html>|<meta [^>]*>|<title>[^<]*<\/title>/gi, '')
    .replace(/<script\b[\s\S]*?<\/script>/g, '')
    .trim();
  return {
    scheme: metaOf('scheme') || 'http',
    host: metaOf('host'),
    expected: metaOf('expected-tags').split(' ').filter(Boolean),
    title: /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? '',
    body,
    scripts: scripts.join('\n'),
  };
}

/** The lines of a page's text, as its HTML has them. Pure. */
export const linesOf = ({ body }: ControlPage): string[] =>
  body
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<\/(p|h\d|li|button|div|label)>|<br>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
