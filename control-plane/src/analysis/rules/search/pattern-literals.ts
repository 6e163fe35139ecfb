import { RE2JS } from 're2js';

/**
 * Mark the beginning and the end of a text that is searched for literals. A text that contains one itself only causes
 * needless tries.
 */
export const [TEXT_START, TEXT_END] = ['\u0002', '\u0003'];

const ASCII = /^[\x20-\x7e]+$/;

/**
 * The literals of a pattern as re2js keeps them: one text, or parts of which all (`AND`) or one (`OR`) must be in the
 * text.
 */
type LiteralTree = { type: number; str: string; subs: LiteralTree[] };
const [EXACT, AND, OR] = [1, 2, 3];

/** Parts that most URLs have. */
const COMMON = /https?|www|\.com|\.?php|\.?html?|\.?aspx?|\.?jsp?|\.?css|\.?gif|\.?jpe?g|\.?png|index|id/g;
/** A literal is rare if it has so many letters, digits, `-` and `_` besides the common parts. */
const RARE_CHARACTERS_MIN = 3;

/**
 * Lower-case literals, at least one of which is in every ASCII text that a pattern matches, in any letter case. null:
 * there are none, or most texts contain them.
 */
export function requiredLiterals(pattern: string): string[] | null {
  const tree = RE2JS.compile(pattern).re2Input.prefilter as LiteralTree | null;
  const literals = tree && rarest(tree);
  return literals && weightOf(literals) >= RARE_CHARACTERS_MIN ? literals : null;
}

function rarest({ type, str, subs }: LiteralTree): string[] | null {
  if (type === EXACT) return ASCII.test(str) ? [str.toLowerCase()] : null;
  const parts = subs.map(rarest);
  const known = parts.filter((literals) => literals !== null);
  if (type === OR) return known.length === parts.length ? known.flat() : null;
  if (type !== AND || known.length === 0) return null;
  return known.reduce((best, literals) => (weightOf(literals) > weightOf(best) ? literals : best));
}

/** The characters of the commonest of these literals, without common parts. */
const weightOf = (literals: string[]): number =>
  Math.min(...literals.map((literal) => literal.replaceAll(COMMON, '').replaceAll(/[^\w-]/g, '').length));

/** The literal that begins or ends every match of a pattern; '' if there is no such literal. */
type EdgeLiterals = { first: string; last: string };

/**
 * An instruction of a compiled program as re2js keeps it (`Prog` of RE2); `runes` with one element is one character.
 */
type Instruction = { op: number; out: number; arg: number; runes: ArrayLike<number> };
type Program = { inst: Instruction[]; start: number };
const [ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, FAIL, MATCH, NOP, RUNE, RUNE_ANY_NOT_NL] = [1, 2, 3, 4, 5, 6, 7, 8, 11];
const [BEGIN_TEXT, END_TEXT] = [4, 8];

/**
 * Lower-case literals between `TEXT_START` and `TEXT_END`: `first` begins every match of a pattern in an ASCII text, in
 * any letter case, and `last` ends it. Both are read from the compiled program: every path from its start to its end
 * contains them.
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

/** The literal at the end, for patterns whose matches end with their text. */
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

/** For each instruction that the start reaches, the instructions before it. */
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
  return op === MATCH || op < ALT || op === FAIL ? [] : [out];
};

const isBeginning = ({ op, arg }: Instruction): boolean => op === EMPTY_WIDTH && (arg & BEGIN_TEXT) !== 0;

/** The one character that an instruction matches, in lower case; null if there is none, or several. */
function characterOf({ op, runes }: Instruction): string | null {
  if (op < RUNE || op > RUNE_ANY_NOT_NL || runes.length !== 1) return null;
  const character = String.fromCodePoint(runes[0]!);
  return ASCII.test(character) ? character.toLowerCase() : null;
}
