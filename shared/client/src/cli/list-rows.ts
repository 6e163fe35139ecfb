import type { Context } from './command.ts';

/** Prints a list as a table with these columns, or as one JSON array. Resolves to the exit code. */
export async function listRows<Row>(
  { json, terminal }: Context,
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: Record<string, (row: Row) => string>,
): Promise<number> {
  const all: Row[] = [];
  for await (const row of rows) {
    all.push(row);
    terminal.progress(`${all.length} ...`);
  }
  if (json) terminal.json(all);
  else if (all.length === 0) terminal.note('There are none.');
  else
    terminal.table(
      Object.keys(columns),
      all.map((row) => Object.values(columns).map((cell) => cell(row))),
    );
  return 0;
}
