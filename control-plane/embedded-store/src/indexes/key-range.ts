/** Keys from `from` (inclusive) to `to` (exclusive). */
export type KeyRange = { from: Uint8Array; to: Uint8Array };

/** Above every key: tags end at 0x7f, inverted ones at 0xfe. */
const EVERY_KEY: KeyRange = { from: new Uint8Array(), to: Uint8Array.of(0xff) };

/** All keys that start like this one. */
export function startingWith(prefix: Uint8Array): KeyRange {
  return prefix.length === 0 ? EVERY_KEY : { from: prefix, to: successor(prefix) };
}

/** The smallest key above every key that starts like this one. No first byte is 0xff, so there is one. */
export function successor(prefix: Uint8Array): Buffer {
  let length = prefix.length;
  while (prefix[length - 1] === 0xff) length -= 1;
  const above = Buffer.from(prefix.subarray(0, length));
  above[length - 1]! += 1;
  return above;
}

/** A key as a text, one character a byte: equal keys are the same key of a `Map`. */
export const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
