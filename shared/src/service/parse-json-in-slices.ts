import { pause } from './time-slice.ts';

/**
 * Parses the JSON of an object with megabytes, with pauses: its members, and the items of its lists of objects, are
 * parsed one by one. A text that `JSON.stringify` has not written so, for example with white space, is parsed in one
 * piece. Throws as `JSON.parse` does.
 */
export async function parseJsonInSlices(text: string): Promise<unknown> {
  const members: [string, unknown][] = [];
  let at = 1;
  for (let isFirst = true; text[0] === '{'; isFirst = false) {
    if (text[at] === '}' && isFirst) break;
    const colon = text[at] === QUOTE ? endOfString(text, at) : text.length;
    const value = colon + 1;
    if (text[colon] !== ':') break;
    const list = text.startsWith('[{', value) ? await itemsIn(text, value) : null;
    const end = list?.end ?? endOfValue(text, value);
    const isLast = text[end] === '}';
    if (!isLast && text[end] !== ',') break;
    members.push([JSON.parse(text.slice(at, colon)), list ? list.items : JSON.parse(text.slice(value, end))]);
    await pause();
    if (isLast && end === text.length - 1) return Object.fromEntries(members);
    if (isLast) break;
    at = end + 1;
  }
  return JSON.parse(text);
}

const QUOTE = '"';

/** The items of the list that begins at `from`, and the place after it; null: some are no objects. */
async function itemsIn(text: string, from: number): Promise<{ items: unknown[]; end: number } | null> {
  const items: unknown[] = [];
  for (let at = from + 1; text[at] === '{'; at += 1) {
    const end = endOfValue(text, at);
    items.push(JSON.parse(text.slice(at, end)));
    await pause();
    if (text[end] === ']') return { items, end: end + 1 };
    if (text[end] !== ',') return null;
    at = end;
  }
  return null;
}

/** The place after the value that begins at `from`; the end of the text if it is not complete. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === QUOTE) at = endOfString(text, at) - 1;
    else if (character === '{' || character === '[') depth++;
    else if (depth === 0 && (character === ',' || character === '}' || character === ']')) return at;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The place after the string that begins at `from`; the end of the text if it does not end. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf(QUOTE, from + 1); at >= 0; at = text.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}
