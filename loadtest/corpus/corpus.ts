/**
 * A case with a known outcome. `subject` groups cases in the score: a behaviour, or a class of documents. `run` returns the slugs that were
 * found, in any order; they must be exactly those in `expected`.
 */
export type CorpusCase = { subject: string; name: string; expected: string[]; run(): Promise<string[]> };

/**
 * Cases that share their setup. `recallMin`: the share of all expected slugs that must be found, 1 if it is absent. `open` returns null, and prints
 * why, if their data is missing. `describeLast` describes the last run of each
 * case in Markdown, for a corpus that needs more than a score.
 */
export type Corpus = { name: string; recallMin?: number; open(): Promise<OpenCorpus | null> };
export type OpenCorpus = { cases: CorpusCase[]; describeLast?(): string; close(): Promise<void> };

/** Prints why a corpus is skipped. */
export function leftOut(name: string, reason: string): null {
  console.log(`${name}: skipped, ${reason}`);
  return null;
}
