import { pause } from '@adsweep/shared/service/time-slice.ts';
import { type Catalogue, CataloguePoolSchema, CatalogueSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';

const [ofCatalogue, ofPool] = [Compile(CatalogueSchema), Compile(CataloguePoolSchema)];

/** Before the pools; no string of JSON contains it, because its quotes would be escaped. */
const POOLS = '"pools":[';
const QUOTE = '"';
const BACKSLASH = '\\';
const OPEN_OBJECT = '{';

/**
 * The catalogue in a text. With the places of vendors it has megabytes, and parsed in one piece it would block the event loop for tens of
 * milliseconds: its pools are parsed one by one. Throws what is wrong with another text.
 */
export async function parseCatalogue(text: string): Promise<Catalogue> {
  const pools: Catalogue['pools'] = [];
  const begin = text.indexOf(POOLS);
  let at = begin + POOLS.length;
  while (begin >= 0 && text[at] === OPEN_OBJECT) {
    const end = endOfObject(text, at);
    const pool: unknown = JSON.parse(text.slice(at, end));
    if (!ofPool.Check(pool)) Value.Assert(CataloguePoolSchema, pool);
    pools.push(pool as Catalogue['pools'][number]);
    at = text.startsWith(',{', end) ? end + 1 : end;
    await pause();
  }
  // What is around the pools, and those that stand otherwise in the text than JSON.stringify writes them.
  const rest: unknown = JSON.parse(pools.length > 0 ? text.slice(0, begin + POOLS.length) + text.slice(at) : text);
  if (!ofCatalogue.Check(rest)) Value.Assert(CatalogueSchema, rest);
  const { pools: others, ...around } = rest as Catalogue;
  return { ...around, pools: [...pools, ...others] };
}

/** The text of a catalogue, written pool by pool. */
export async function catalogueText({ pools, ...around }: Catalogue): Promise<string> {
  const texts: string[] = [];
  for (const pool of pools) {
    texts.push(JSON.stringify(pool));
    await pause();
  }
  return `${JSON.stringify(around).slice(0, -1)},${POOLS}${texts.join()}]}`;
}

/** The place after the object that begins at `from`; the end of the text if it is not complete. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPEN_OBJECT) depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf(QUOTE, from + 1); at >= 0; at = text.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
