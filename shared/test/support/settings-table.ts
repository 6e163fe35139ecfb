import type { TObject } from 'typebox';

type Setting = { default?: unknown; defaultInWords?: string; secret?: boolean; description?: string };

/**
 * The rows that a README's table of settings must have: name, default, description. `defaultInWords` in a setting's schema stands for a
 * default that depends on the machine.
 */
export function settingsRows(schema: TObject): string[][] {
  return Object.entries(schema.properties as Record<string, Setting>).map(([name, setting]) => [
    `\`${name}\``,
    `${defaultOf(setting)}${setting.secret ? ', secret' : ''}`,
    setting.description ?? '',
  ]);
}

function defaultOf(setting: Setting): string {
  if (setting.defaultInWords !== undefined) return setting.defaultInWords;
  if (setting.default === undefined) return 'required';
  return setting.default === '' ? 'empty' : `\`${setting.default}\``;
}

/** The cells of the first table below a heading of a Markdown text, without its head and without padding. */
export function tableBelow(markdown: string, heading: string): string[][] {
  const section = markdown.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const table = /^\|.*\n(?:\|.*(?:\n|$))+/m.exec(section)?.[0] ?? '';
  return table.trim().split('\n').slice(2).map(cells);
}

const cells = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
