import { RE2JS } from 're2js';

/** The literals of an expression as re2js keeps them: one text, or those of its parts, all (`AND`) or one (`OR`) of which must be there. */
type LiteralTree = { type: number; str: string; subs: LiteralTree[] };
const [EXACT, AND, OR] = [1, 2, 3];

/** Parts of so many URLs that they tell none from another. */
const COMMON = /https?|www|\.com|\.?php|\.?html?|\.?aspx?|\.?jsp?|\.?css|\.?gif|\.?jpe?g|\.?png|index|id/g;
/** Letters, digits, `-` and `_` that a literal must have beside those parts, to be worth a look at the expression. */
const TELLING_CHARACTERS_MIN = 3;
const ASCII = /^[\x20-\x7e]+$/;

/**
 * Texts in lower case, at least one of which is in every ASCII text that a pattern matches, in whatever letter case. null: there are none
 * that most texts do not have.
 */
export function requiredLiterals(pattern: string): string[] | null {
  const tree = RE2JS.compile(pattern).re2Input.prefilter as LiteralTree | null;
  const literals = tree && mostTelling(tree);
  return literals && weightOf(literals) >= TELLING_CHARACTERS_MIN ? literals : null;
}

function mostTelling({ type, str, subs }: LiteralTree): string[] | null {
  if (type === EXACT) return ASCII.test(str) ? [str.toLowerCase()] : null;
  const parts = subs.map(mostTelling);
  const known = parts.filter((literals) => literals !== null);
  if (type === OR) return known.length === parts.length ? known.flat() : null;
  if (type !== AND || known.length === 0) return null;
  return known.reduce((best, literals) => (weightOf(literals) > weightOf(best) ? literals : best));
}

/** What the least of these literals has beside what is common. */
const weightOf = (literals: string[]): number =>
  Math.min(...literals.map((literal) => literal.replaceAll(COMMON, '').replaceAll(/[^\w-]/g, '').length));
