import { TAG } from './value-key.ts';

/** The lengths of the types whose values have a fixed size, including the tag. */
const LENGTHS: Readonly<Record<number, number>> = {
  [TAG.null]: 1,
  [TAG.boolean]: 2,
  [TAG.date]: 9,
  [TAG.objectId]: 13,
};

/**
 * The text of component `at` of a key whose components have these `directions`; undefined if it is no text, if the
 * component is descending, or if a number, a document or an array precedes it.
 */
export function textIn(key: Uint8Array, directions: readonly (1 | -1)[], at: number): string | undefined {
  const start = startOf(key, directions, at);
  if (start < 0 || key[start] !== TAG.string) return undefined;
  const end = endOfText(key, start + 1, 0x00);
  const text = Buffer.from(key.buffer, key.byteOffset + start + 1, end - 2 - (start + 1)).toString();
  return text.includes('\0') ? undefined : text;
}

/** Where component `at` of a key begins; -1 if a number, a document or an array precedes it. */
export function startOf(key: Uint8Array, directions: readonly (1 | -1)[], at: number): number {
  let start = 0;
  for (let before = 0; before < at && start >= 0; before += 1) start = endOf(key, start, directions[before]!);
  return start;
}

/** The end of the value that begins at `start`; -1 if the type has no simple end. */
function endOf(key: Uint8Array, start: number, direction: 1 | -1): number {
  const turned = direction > 0 ? 0x00 : 0xff;
  const tag = key[start]! ^ turned;
  if (tag === TAG.string) return endOfText(key, start + 1, turned);
  const length = LENGTHS[tag];
  return length === undefined ? -1 : start + length;
}

/** A text ends with two NULs; a NUL within it is followed by another byte. */
function endOfText(key: Uint8Array, start: number, nul: number): number {
  let at = key.indexOf(nul, start);
  while (key[at + 1] !== nul) at = key.indexOf(nul, at + 2);
  return at + 2;
}
