import { RE2JS } from 're2js';

/** Stand before and after a text in which literals are looked for. Where a text has one of its own, expressions are tried in vain. */
export const [TEXT_START, TEXT_END] = ['\u0002', '\u0003'];

/** What begins or ends everything that a pattern matches; '' where that is not one text. */
export type EdgeLiterals = { first: string; last: string };

/** An instruction of a compiled program as re2js keeps it (`Prog` of RE2); `runes` of one element is one character. */
type Instruction = { op: number; out: number; arg: number; runes: ArrayLike<number> };
type Program = { inst: Instruction[]; start: number };
const [ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, MATCH, NOP, RUNE, RUNE_ANY_NOT_NL] = [1, 2, 3, 4, 6, 7, 8, 11];
const [BEGIN_TEXT, END_TEXT] = [4, 8];
const ASCII = /^[\x20-\x7e]$/;

/**
 * Texts in lower case between `TEXT_START` and `TEXT_END`: `first` begins every match of a pattern in an ASCII text, in whatever letter case,
 * `last` ends it. Both are read from the program, in which every way from its start to its end passes them.
 */
export function edgeLiterals(pattern: string): EdgeLiterals {
  const program = RE2JS.compile(pattern).re2Input.prog as Program;
  return { first: firstOf(program), last: lastOf(program) };
}

function firstOf({ inst, start }: Program): string {
  let literal = '';
  for (let one = inst[start]!; ; one = inst[one.out]!) {
    const character = characterOf(one);
    if (isBeginning(one) && literal === '') literal = TEXT_START;
    else if (character !== null) literal += character;
    else if (one.op !== CAPTURE && one.op !== NOP) return literal;
  }
}

/** Of a pattern whose matches end with their text. */
function lastOf(program: Program): string {
  const { inst } = program;
  const before = predecessorsIn(program);
  let [at, literal, atEnd] = [inst.findIndex(({ op }) => op === MATCH), '', false];
  for (;;) {
    const [previous, ...others] = before.get(at) ?? [];
    if (previous === undefined || others.length > 0) break;
    const one = inst[previous]!;
    const character = characterOf(one);
    if (character !== null) literal = character + literal;
    else if (one.op === EMPTY_WIDTH && literal === '') atEnd ||= (one.arg & END_TEXT) !== 0;
    else if (one.op !== CAPTURE && one.op !== NOP && one.op !== EMPTY_WIDTH) break;
    at = previous;
  }
  return atEnd && literal !== '' ? literal + TEXT_END : '';
}

/** By instruction: those that lead to it from the start of the program. */
function predecessorsIn({ inst, start }: Program): Map<number, number[]> {
  const before = new Map<number, number[]>();
  const [seen, left] = [new Set<number>(), [start]];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    for (const next of successorsOf(inst[at]!)) {
      before.set(next, [...(before.get(next) ?? []), at]);
      left.push(next);
    }
  }
  return before;
}

const successorsOf = ({ op, out, arg }: Instruction): number[] => {
  if (op === ALT || op === ALT_MATCH) return [out, arg];
  return op === MATCH || op < ALT || op === 5 ? [] : [out];
};

const isBeginning = ({ op, arg }: Instruction): boolean => op === EMPTY_WIDTH && (arg & BEGIN_TEXT) !== 0;

/** The one character that an instruction matches, in lower case; null where there is none, or several. */
function characterOf({ op, runes }: Instruction): string | null {
  if (op < RUNE || op > RUNE_ANY_NOT_NL || runes.length !== 1) return null;
  const character = String.fromCodePoint(runes[0]!);
  return ASCII.test(character) ? character.toLowerCase() : null;
}
