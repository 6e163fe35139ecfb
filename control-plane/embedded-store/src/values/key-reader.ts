import { TAG } from './value-key.ts';

/** The lengths of values that are as long as every other one of their type, tag included. */
const LENGTHS: Readonly<Record<number, number>> = {
  [TAG.null]: 1,
  [TAG.boolean]: 2,
  [TAG.date]: 9,
  [TAG.objectId]: 13,
};

/**
 * The text of component `at` of a key, whose components run in `directions`; undefined where it is no text, where the key has it turned
 * around, or where a number, a document or an array stands before it. What `KeyWriter` wrote is read back for nothing else.
 */
export function textIn(key: Uint8Array, directions: readonly (1 | -1)[], at: number): string | undefined {
  let start = 0;
  for (let before = 0; before < at; before += 1) {
    start = endOf(key, start, directions[before]!);
    if (start < 0) return undefined;
  }
  if (key[start] !== TAG.string) return undefined;
  const end = endOfText(key, start + 1, 0x00);
  const text = Buffer.from(key.buffer, key.byteOffset + start + 1, end - 2 - (start + 1)).toString();
  return text.includes('\0') ? undefined : text;
}

/** Where the value that begins at `start` ends; -1 where that takes more than a look. */
function endOf(key: Uint8Array, start: number, direction: 1 | -1): number {
  const turned = direction > 0 ? 0x00 : 0xff;
  const tag = key[start]! ^ turned;
  if (tag === TAG.string) return endOfText(key, start + 1, turned);
  const length = LENGTHS[tag];
  return length === undefined ? -1 : start + length;
}

/** A text ends with two `nul`; one within it is followed by something else. */
function endOfText(key: Uint8Array, start: number, nul: number): number {
  let at = key.indexOf(nul, start);
  while (key[at + 1] !== nul) at = key.indexOf(nul, at + 2);
  return at + 2;
}
