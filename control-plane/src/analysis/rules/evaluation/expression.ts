import { RE2JS } from 're2js';

/** An expression is refused above so many instructions, as RE2 refuses what needs more than its memory. */
const INSTRUCTIONS_MAX = 10_000;

/** A compiled expression: whether and where a text contains it, in linear time whatever the text. */
export type Expression = {
  test(text: string): boolean;
  find(text: string): { start: number; end: number } | null;
};

/** Compiles a pattern in RE2's syntax; `i`: any letter case. Throws a sentence where RE2 refuses it. */
export function compileExpression(pattern: string, flags = ''): Expression {
  const compiled = RE2JS.compile(pattern, flags === 'i' ? RE2JS.CASE_INSENSITIVE : 0);
  if (compiled.programSize() > INSTRUCTIONS_MAX) throw new Error('pattern too large');
  return {
    test: (text) => compiled.test(text),
    find: (text) => {
      // The test runs on an automaton; only what matches pays for a position.
      if (!compiled.test(text)) return null;
      const matcher = compiled.matcher(text);
      return matcher.find() ? { start: matcher.start(), end: matcher.end() } : null;
    },
  };
}

/** Why RE2 refuses a pattern; null: it takes it. */
export function expressionProblem(pattern: string): string | null {
  try {
    compileExpression(pattern);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
  }
}
