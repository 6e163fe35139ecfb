import { RE2JS } from 're2js';
import { leastInstructions } from './pattern-size.ts';

/** The most instructions of a compiled pattern; RE2 itself refuses patterns that need more than its memory. */
const INSTRUCTIONS_MAX = 10_000;

/** A pattern in RE2's syntax; `i`: in any letter case. */
export type Pattern = { pattern: string; flags?: '' | 'i' };

/** A compiled pattern: whether and where a text matches, in linear time for any text. */
export type Expression = {
  test(text: string): boolean;
  find(text: string): { start: number; end: number } | null;
};

/** Compiles a pattern. Throws with RE2's reason if RE2 refuses it. */
export function compileExpression(pattern: string, flags = ''): Expression {
  const compiled = RE2JS.compile(pattern, flags === 'i' ? RE2JS.CASE_INSENSITIVE : 0);
  requireSize(compiled.programSize());
  return {
    test: (text) => compiled.test(text),
    find: (text) => {
      // The test runs on an automaton; only a match pays for the slower search for its position.
      if (!compiled.test(text)) return null;
      const matcher = compiled.matcher(text);
      return matcher.find() ? { start: matcher.start(), end: matcher.end() } : null;
    },
  };
}

function requireSize(instructions: number): void {
  if (instructions > INSTRUCTIONS_MAX) throw new Error('pattern too large');
}

/** Why RE2 refuses a pattern; null: RE2 accepts it. */
export function expressionProblem(pattern: string): string | null {
  try {
    requireSize(leastInstructions(pattern));
    compileExpression(pattern);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
  }
}
