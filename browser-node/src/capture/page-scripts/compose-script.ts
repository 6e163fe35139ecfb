/** A function whose source is sent to a page, where nothing of this module exists: it must be self-contained. */
type PageFunction = (...values: never[]) => unknown;

/**
 * One page script made of several self-contained functions: `main` gets the argument and, by name, `parts`. The source
 * of the result, as in `${script}`, contains those of all of them.
 */
export function composeScript<Argument, Parts extends Record<string, PageFunction>, Result>(
  main: (argument: Argument, parts: Parts) => Result,
  parts: Parts,
): (argument: Argument) => Result {
  const sources = Object.entries(parts).map(([name, part]) => `${name}: ${part}`);
  const source = `(argument) => (${main})(argument, { ${sources.join(',\n')} })`;
  const script = (argument: Argument) => main(argument, parts);
  return Object.defineProperties(script, { name: { value: main.name }, toString: { value: () => source } });
}
