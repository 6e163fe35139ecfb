import { RE2Set } from 're2js';

/** A pattern as re2js parses and simplifies it; repeats are lists of one and the same part. */
type Parsed = { op: number; subs: Parsed[]; runes: ArrayLike<number> };
const [LITERAL, CAPTURE, STAR, PLUS, QUEST, ALTERNATE] = [2, 12, 13, 14, 15, 18];

/**
 * A lower bound of the instructions that a pattern compiles to, counted before it is compiled: 4,096 characters of
 * `.{1000}` are half a million instructions, which take seconds to make. Throws with RE2's reason if RE2 refuses the
 * pattern.
 */
export function leastInstructions(pattern: string): number {
  const set = new RE2Set();
  set.add(pattern);
  const [parsed] = (set as unknown as { regexps: Parsed[] }).regexps;
  return sizeOf(parsed!, new Map());
}

function sizeOf(parsed: Parsed, known: Map<Parsed, number>): number {
  const before = known.get(parsed);
  if (before !== undefined) return before;
  const size = parsed.subs.reduce((sum, sub) => sum + sizeOf(sub, known), ownSize(parsed));
  known.set(parsed, size);
  return size;
}

function ownSize({ op, subs, runes }: Parsed): number {
  if (op === LITERAL) return runes.length;
  if (op === CAPTURE) return 2;
  if (op === STAR || op === PLUS || op === QUEST) return 1;
  if (op === ALTERNATE) return subs.length - 1;
  return subs.length === 0 ? 1 : 0;
}
