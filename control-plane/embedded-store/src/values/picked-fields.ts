/** Fields by name, each with those to keep of its documents; an empty branch is a field that is kept whole. */
export type FieldTree = ReadonlyMap<string, FieldTree>;

const [DOCUMENT, ARRAY, REGEX] = [3, 4, 11];
/** The lengths of BSON values without a length of their own. */
const FIXED: Readonly<Record<number, number>> = {
  ...{ 1: 8, 6: 0, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 17: 8, 18: 8, 19: 16, 127: 0, 255: 0 },
};
/** BSON types that begin with their length: in bytes, what that number does not include. */
const MEASURED: Readonly<Record<number, number>> = { 2: 4, [DOCUMENT]: 0, [ARRAY]: 0, 5: 5, 13: 4, 14: 4, 15: 0 };

/**
 * A BSON document with only the fields of `tree` of another one. Copies bytes and reads no value, so that a large field which is not wanted
 * costs nothing. A value of an unknown type ends it: the whole document is returned.
 */
export function pickFields(bytes: Uint8Array, tree: FieldTree): Uint8Array {
  return picked(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), (name) => tree.get(name)) ?? bytes;
}

/**
 * A BSON document with other values of some fields: those of `changed`, also BSON, and none where it has none. New fields come last. Reads no
 * value; null: it has a value of an unknown type.
 */
export function spliceFields(bytes: Uint8Array, names: ReadonlySet<string>, changed: Uint8Array): Uint8Array | null {
  const fields = elementsOf(changed);
  const others = elementsOf(bytes);
  if (!fields || !others) return null;
  const added = new Map(fields.map(({ name, element }) => [name, element]));
  const pieces = others.flatMap(({ name, element }) => {
    if (!names.has(name)) return [element];
    const now = added.get(name);
    added.delete(name);
    return now ? [now] : [];
  });
  return documentOf([...pieces, ...added.values()]);
}

/** The fields of a document, each with its type, name and value; null: there is one of an unknown type. */
function elementsOf(bytes: Uint8Array): { name: string; element: Buffer }[] | null {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const elements: { name: string; element: Buffer }[] = [];
  for (let at = 4; at < source.length - 1; ) {
    const value = source.indexOf(0, at + 1) + 1;
    const end = endOfValue(source, source[at]!, value);
    if (end < 0) return null;
    elements.push({ name: source.toString('utf8', at + 1, value - 1), element: source.subarray(at, end) });
    at = end;
  }
  return elements;
}

function documentOf(elements: readonly Buffer[]): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32LE(elements.reduce((sum, { length }) => sum + length, 5));
  return Buffer.concat([size, ...elements, Buffer.of(0)]);
}

/** The part of a document, or of an array whose items are documents; null: it has a value of an unknown type. */
function picked(source: Buffer, branchOf: (name: string) => FieldTree | undefined): Buffer | null {
  const pieces: Buffer[] = [];
  for (let at = 4; at < source.length - 1; ) {
    const value = source.indexOf(0, at + 1) + 1;
    const type = source[at]!;
    const end = endOfValue(source, type, value);
    if (end < 0) return null;
    const branch = branchOf(source.toString('utf8', at + 1, value - 1));
    const isNested = branch !== undefined && branch.size > 0 && (type === DOCUMENT || type === ARRAY);
    if (isNested) {
      const nested = source.subarray(value, end);
      const part = type === DOCUMENT ? picked(nested, (name) => branch.get(name)) : picked(nested, () => branch);
      if (!part) return null;
      pieces.push(source.subarray(at, value), part);
    } else if (branch) pieces.push(source.subarray(at, end));
    at = end;
  }
  return documentOf(pieces);
}

function endOfValue(source: Buffer, type: number, at: number): number {
  const fixed = FIXED[type];
  if (fixed !== undefined) return at + fixed;
  const more = MEASURED[type];
  if (more !== undefined) return at + source.readInt32LE(at) + more;
  return type === REGEX ? source.indexOf(0, source.indexOf(0, at) + 1) + 1 : -1;
}
