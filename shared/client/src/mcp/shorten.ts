/** How much of a value is kept: items of each list, characters of each text. */
type Step = [items: number, characters: number];

/** From the most to the least. */
const STEPS: Step[] = [
  [200, 4_000],
  [100, 1_000],
  [50, 400],
  [25, 300],
  [12, 200],
  [6, 120],
  [3, 80],
  [1, 40],
];
const SHORTEST = STEPS.at(-1);
const WHOLE: Step = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];

/** The JSON of a value, and whether parts of it were left out. */
export type Shortened = { text: string; isWhole: boolean };

/**
 * A value as JSON of at most this many characters. What is left out of a list or a text is said in its place. Only as much of the value is looked at
 * as may be kept. Pure.
 */
export function shorten(value: unknown, charactersMax: number): Shortened {
  if (mayFit(value, WHOLE, charactersMax)) {
    const text = JSON.stringify(value) ?? 'null';
    if (text.length <= charactersMax) return { text, isWhole: true };
  }
  let text = '';
  for (const step of STEPS) {
    if (step !== SHORTEST && !mayFit(value, step, charactersMax)) continue;
    text = JSON.stringify(cut(value, ...step)) ?? 'null';
    if (text.length <= charactersMax) return { text, isWhole: false };
  }
  return { text: `${text.slice(0, charactersMax)} ...`, isWhole: false };
}

/** Whether the JSON of a value that is cut may have at most this many characters: whether its shortest form does. */
function mayFit(value: unknown, [items, characters]: Step, charactersMax: number): boolean {
  const open: unknown[] = [value];
  let left = charactersMax;
  while (open.length > 0 && left >= 0) {
    const one = open.pop();
    left -= 1;
    if (typeof one === 'string') left -= Math.min(one.length, characters);
    else if (Array.isArray(one)) open.push(...one.slice(0, Math.min(items, left + 1)));
    else if (typeof one === 'object' && one !== null)
      for (const [key, member] of Object.entries(one)) {
        left -= key.length;
        open.push(member);
      }
  }
  return left >= 0;
}

function cut(value: unknown, items: number, characters: number): unknown {
  if (typeof value === 'string') return cutText(value, characters);
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((one) => cut(one, items, characters));
    return value.length > items ? [...kept, `... ${value.length - items} more`] : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cut(one, items, characters)]));
}

/** A text of at most this many characters, and how many more there are. */
export const cutText = (text: string, characters: number): string =>
  text.length <= characters
    ? text
    : `${text.slice(0, characters).toWellFormed()} ... ${text.length - characters} more characters`;
