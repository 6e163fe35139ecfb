/** One problem of a value (spec 2.4): its path, what it must be, and as `ctx.given` what was sent. */
export type Issue = { loc: (string | number)[]; msg: string; type: string; ctx: Record<string, unknown> };

/** The sentence of an issue as it follows a name: `must be an integer`, `is required`. */
export function predicateOf(msg: string): string {
  const predicate = msg.replace(/\.$/, '').replace(/^This (field|value) /, '');
  return predicate.charAt(0).toLowerCase() + predicate.slice(1);
}

/** An issue as one line for whoever writes a file: the path to the problem, `/` for the whole, and what it must be. */
export const lineOf = ({ loc, msg }: Issue): string => `/${loc.join('/')} ${predicateOf(msg)}`;
