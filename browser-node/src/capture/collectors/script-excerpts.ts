import { SCRIPT_MARKERS } from '@adsweep/shared/capture/script-markers.ts';

/** Characters on either side of a marker, and of all parts of one script together. */
const REACH = 12_000;
const LENGTH_MAX = 65_536;
/** Places of each marker: a script that repeats one must not hide what follows. */
const PLACES_MAX = 3;
const SCRIPTS_MAX = 500;
const ANY_MARKER = new RegExp(SCRIPT_MARKERS.join('|'));
const MARKERS = SCRIPT_MARKERS.map((marker) => new RegExp(marker, 'g'));
const SCRIPT_START = /<script(?=[\s/>])/gi;
const SCRIPT_END = /<\/script/gi;
const TAG_LENGTH_MAX = 5_000;

/** The parts of a script around markers, in order; '' if it has none. Pure; takes linear time. */
export function scriptExcerpts(script: string): string {
  if (!ANY_MARKER.test(script)) return '';
  const places = MARKERS.flatMap((marker) => placesOf(script, marker)).sort((a, b) => a - b);
  let end = 0;
  let excerpts = '';
  for (const place of places) {
    const begin = Math.max(end, place - REACH);
    end = Math.max(end, Math.min(script.length, place + REACH));
    excerpts += script.slice(begin, end);
    if (excerpts.length > LENGTH_MAX) break;
  }
  return excerpts.slice(0, LENGTH_MAX);
}

/** The first places of a marker and its last one. */
function placesOf(script: string, marker: RegExp): number[] {
  const first: number[] = [];
  let last: number | null = null;
  for (const { index } of script.matchAll(marker)) {
    if (first.length < PLACES_MAX - 1) first.push(index);
    else last = index;
  }
  return last === null ? first : [...first, last];
}

/**
 * The script elements of an HTML document, as it was sent, that have markers, written as a browser does; '' if none
 * has. Comments count too: a parser ends some earlier than they seem to. Pure; takes linear time.
 */
export function inlineScriptExcerpts(html: string): string {
  if (!ANY_MARKER.test(html)) return '';
  const elements: string[] = [];
  let length = 0;
  let end = 0;
  for (let scripts = 0; scripts < SCRIPTS_MAX && length < LENGTH_MAX; scripts++) {
    const begin = indexOf(html, SCRIPT_START, end);
    const content = html.indexOf('>', begin) + 1;
    end = indexOf(html, SCRIPT_END, content);
    if (begin < 0 || content === 0 || end < 0) break;
    const script = html.slice(content, end);
    if (content - begin > TAG_LENGTH_MAX || !ANY_MARKER.test(script)) continue;
    const attributes = html.slice(begin + '<script'.length, content - 1).replaceAll("'", '"');
    elements.push(`<script${attributes}>${script}</script>`);
    length += script.length;
  }
  return elements.join('\n').slice(0, LENGTH_MAX);
}

/** The index at or after `from` at which a global expression matches; -1: nowhere. */
function indexOf(text: string, expression: RegExp, from: number): number {
  expression.lastIndex = from;
  return expression.exec(text)?.index ?? -1;
}
