/** One problem of a value (spec 2.4): its path, the requirement, and the value as `ctx.given`. */
export type Issue = { loc: (string | number)[]; msg: string; type: string; ctx: Record<string, unknown> };

/** The sentence of an issue as a predicate: `must be an integer`, `is required`. */
export function predicateOf(msg: string): string {
  const predicate = msg.replace(/\.$/, '').replace(/^This (field|value) /, '');
  return predicate.charAt(0).toLowerCase() + predicate.slice(1);
}

/** An issue as one line, for authors of files: the path, `/` for the whole value, and the requirement. */
export const lineOf = ({ loc, msg }: Issue): string => `/${loc.join('/')} ${predicateOf(msg)}`;
