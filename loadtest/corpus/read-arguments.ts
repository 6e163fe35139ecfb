export const USAGE = `usage: npm run corpus -- [runs] [at once] [corpus] [subject ...]
       npm run corpus -- fetch [folder]`;

/** What to run: each case `times`, `atOnce` of them concurrently; `only`: one corpus by name, undefined: all; `subjects`: [] = all. */
export type Plan = { times: number; atOnce: number; only: string | undefined; subjects: string[] };

/**
 * The plan of a run from the arguments of its command, with 10 runs and 4 at once as defaults. Null if they are not valid: a number is not a
 * positive integer, or the corpus is none of `corpora`. Pure.
 */
export function readArguments(args: string[], corpora: string[]): Plan | null {
  const firstName = args.findIndex((one) => !isCount(one));
  const counts = firstName < 0 ? args : args.slice(0, firstName);
  const [only, ...subjects] = args.slice(counts.length);
  const [times = 10, atOnce = 4] = counts.map(Number);
  if (counts.length > 2 || (only !== undefined && !corpora.includes(only))) return null;
  return { times, atOnce, only, subjects };
}

const isCount = (text: string): boolean => /^[1-9]\d{0,5}$/.test(text);
