import { LEVELS_MAX } from './taxonomy.ts';

const NAME_LENGTH_MAX = 100;
const DESCRIPTION_LENGTH_MAX = 200;
const TAB_WIDTH = 4;
/** What people put before an item of a list. */
const BULLET = /^(?:[-*•]|\d{1,3}(?:\.\d{1,3})*[.)]?)\s+/;

/** A line of a pasted tree, `level` 1 being the broadest. */
export type ParsedNode = { level: number; name: string; description: string };

/**
 * Reads a tree as people paste it: a node in a line, deeper ones indented, `name | description`. Bullets and numbers are left out. What
 * cannot be as it stands is brought into form, and a warning says so.
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

/** The level of an indentation below those that are open; `indents` is left with those that are open then. */
function levelOf(indents: number[], indent: number): number {
  while (indents.length > 0 && indents.at(-1)! >= indent) indents.pop();
  indents.push(indent);
  return indents.length;
}
