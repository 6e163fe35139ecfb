import { LEVELS_MAX } from './taxonomy.ts';

const NAME_LENGTH_MAX = 100;
const DESCRIPTION_LENGTH_MAX = 200;
const TAB_WIDTH = 4;
/** Bullets and numbers before an item. */
const BULLET = /^(?:[-*•]|\d{1,3}(?:\.\d{1,3})*[.)]?)\s+/;

/** A line of a pasted tree; `level` 1 is the broadest. */
export type ParsedNode = { level: number; name: string; description: string };

/**
 * Reads a pasted tree: one node per line, deeper ones indented, `name | description`. Bullets and numbers are removed.
 * What does not fit is corrected, with a warning.
 */
export function parseTaxonomy(text: string): { nodes: ParsedNode[]; warnings: string[] } {
  const warnings: string[] = [];
  const indents: number[] = [];
  const nodes = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((line, at): ParsedNode[] => {
      if (line.trim() === '') return [];
      const warn = (what: string) => void warnings.push(`Line ${at + 1}: ${what}`);
      const level = levelOf(indents, indentOf(line));
      if (level > LEVELS_MAX) warn(`deeper than ${LEVELS_MAX} levels`);
      const [name = '', ...rest] = line
        .trim()
        .replace(BULLET, '')
        .split('|')
        .map((part) => part.trim());
      if (name === '') warn('no name');
      if (name.length > NAME_LENGTH_MAX) warn(`a name of more than ${NAME_LENGTH_MAX} characters`);
      const description = rest.join(' | ').slice(0, DESCRIPTION_LENGTH_MAX).toWellFormed();
      const node = {
        level: Math.min(level, LEVELS_MAX),
        name: name.slice(0, NAME_LENGTH_MAX).toWellFormed(),
        description,
      };
      return name === '' ? [] : [node];
    });
  return { nodes, warnings };
}

const indentOf = (line: string): number => /^\s*/.exec(line)![0].replaceAll('\t', ' '.repeat(TAB_WIDTH)).length;

/** The level of a line by its indentation. `indents` are those of the open levels, and are updated. */
function levelOf(indents: number[], indent: number): number {
  while (indents.length > 0 && indents.at(-1)! >= indent) indents.pop();
  indents.push(indent);
  return indents.length;
}
