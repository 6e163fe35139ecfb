/** How much of a value is kept, from the most to the least: items of each list, characters of each text. */
const STEPS = [
  ...[
    [200, 4_000],
    [100, 1_000],
    [50, 400],
  ],
  ...[
    [25, 300],
    [12, 200],
    [6, 120],
    [3, 80],
    [1, 40],
  ],
] as [items: number, characters: number][];

/** The JSON of a value, and whether parts of it were left out. */
export type Shortened = { text: string; isWhole: boolean };

/** A value as JSON of at most this many characters. What is left out of a list or a text is said in its place. Pure. */
export function shorten(value: unknown, charactersMax: number): Shortened {
  const whole = JSON.stringify(value) ?? 'null';
  if (whole.length <= charactersMax) return { text: whole, isWhole: true };
  let text = whole;
  for (const [items, characters] of STEPS) {
    text = JSON.stringify(cut(value, items, characters));
    if (text.length <= charactersMax) return { text, isWhole: false };
  }
  return { text: `${text.slice(0, charactersMax)} ...`, isWhole: false };
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
