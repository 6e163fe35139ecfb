/**
 * One thing to scan whose outcome is known. `subject` groups cases in the score: a behaviour, or a class of documents. `expected` and what
 * `run` gives are the slugs that are found, in any order; what is in `expected` must be found, and nothing else.
 */
export type CorpusCase = { subject: string; name: string; expected: string[]; run(): Promise<string[]> };

/**
 * Cases that share their setup. `open` returns null, and prints why, if their data is missing. `describeLast` describes the last run of each
 * case in Markdown, for a corpus that needs more than a score.
 */
export type Corpus = { name: string; open(): Promise<OpenCorpus | null> };
export type OpenCorpus = { cases: CorpusCase[]; describeLast?(): string; close(): Promise<void> };

/** Prints why a corpus is left out. */
export function leftOut(name: string, reason: string): null {
  console.log(`${name}: left out, ${reason}`);
  return null;
}
