/**
 * The fields to keep of a document, each with those to keep of its documents; an empty branch is a field that is kept
 * whole.
 */
export type FieldTree = Pick<ReadonlyMap<string, FieldTree>, 'get' | 'size'>;

const WHOLE: FieldTree = new Map();

/** All fields. */
export const ALL: FieldTree = { get: () => WHOLE, size: Number.POSITIVE_INFINITY };

/** The fields of a tree except these. */
export const treeWithout = (tree: FieldTree, names: ReadonlySet<string>): FieldTree => ({
  get: (name) => (names.has(name) ? undefined : tree.get(name)),
  size: tree.size,
});

/** All fields except these. */
export const allExcept = (names: ReadonlySet<string>): FieldTree => treeWithout(ALL, names);

/** The fields of a tree, and these as a whole. */
export function withWhole(tree: FieldTree, names: readonly string[]): FieldTree {
  const whole = new Set(names);
  return { get: (name) => (whole.has(name) ? WHOLE : tree.get(name)), size: tree.size + whole.size };
}

/** BSON types (bsonspec.org). */
const [TEXT, DOCUMENT, ARRAY, REGEX] = [2, 3, 4, 11];
/** The lengths in bytes of the values of types with a fixed length. */
const FIXED: Readonly<Record<number, number>> = {
  1: 8,
  6: 0,
  7: 12,
  8: 1,
  9: 8,
  10: 0,
  16: 4,
  17: 8,
  18: 8,
  19: 16,
  127: 0,
  255: 0,
};
/** Types whose values begin with a length: the bytes of a value that this length does not count. */
const MEASURED: Readonly<Record<number, number>> = { [TEXT]: 4, [DOCUMENT]: 0, [ARRAY]: 0, 5: 5, 13: 4, 14: 4, 15: 0 };

/**
 * A BSON document with only the fields of `tree` of another one. Copies bytes and reads no value, so that a large field
 * which is not wanted costs nothing. A value of an unknown type ends it: the whole document is returned.
 */
export function pickFields(bytes: Uint8Array, tree: FieldTree): Uint8Array {
  return picked(bufferOf(bytes), (name) => tree.get(name)) ?? bytes;
}

/**
 * A BSON document with other values of the fields `names`: those that `changed` have, also BSON, and none where they
 * have none. New fields come last. Reads no value; null: it has a value of an unknown type.
 */
export function spliceFields(
  bytes: Uint8Array,
  names: ReadonlySet<string>,
  ...changed: readonly Uint8Array[]
): Uint8Array | null {
  const source = bufferOf(bytes);
  const added = new Map<string, Buffer>();
  const pieces: Buffer[] = [];
  const isRead =
    changed.map(bufferOf).every((values) =>
      eachField(values, (name, { from, end }) => {
        if (names.has(name)) added.set(name, values.subarray(from, end));
      }),
    ) &&
    eachField(source, (name, { from, end }) => {
      const piece = names.has(name) ? added.get(name) : source.subarray(from, end);
      if (piece) pieces.push(piece);
      added.delete(name);
    });
  return isRead ? documentOf([...pieces, ...added.values()]) : null;
}

/** The document in a field of a BSON document, as BSON; null: it has no such field, or it is no document. */
export function documentAt(bytes: Uint8Array, field: string): Uint8Array | null {
  const source = bufferOf(bytes);
  let found: Uint8Array | null = null;
  eachField(source, (name, { type, value, end }) => {
    if (name === field && type === DOCUMENT) found = source.subarray(value, end);
  });
  return found;
}

/**
 * The bytes of the text at a path of a BSON document, in UTF-8; 0: there is none. Reads no value, and looks into no
 * array.
 */
export function textBytesAt(bytes: Uint8Array, [field = '', ...rest]: readonly string[]): number {
  if (rest.length > 0) {
    const inner = documentAt(bytes, field);
    return inner ? textBytesAt(inner, rest) : 0;
  }
  const source = bufferOf(bytes);
  let length = 0;
  eachField(source, (name, { type, value }) => {
    // A text ends with a zero byte.
    if (name === field && type === TEXT) length = source.readInt32LE(value) - 1;
  });
  return length;
}

/** The names of the fields of a BSON document. */
export function fieldNames(bytes: Uint8Array): string[] {
  const names: string[] = [];
  eachField(bufferOf(bytes), (name) => names.push(name));
  return names;
}

/** A BSON document without these fields of the document in `field`. */
export const withoutFieldsOf = (bytes: Uint8Array, field: string, names: ReadonlySet<string>): Uint8Array =>
  names.size === 0
    ? bytes
    : pickFields(bytes, {
        get: (name) => (name === field ? allExcept(names) : WHOLE),
        size: Number.POSITIVE_INFINITY,
      });

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Where a field is in its document: `from` its type and name, `value` after them. */
type FieldPlace = { type: number; from: number; value: number; end: number };

/**
 * Calls `visit` for the fields of a document in their order; false: there is one of an unknown type, and it is not
 * called for those after it.
 */
function eachField(source: Buffer, visit: (name: string, place: FieldPlace) => void): boolean {
  for (let from = 4; from < source.length - 1; ) {
    const type = source[from]!;
    const value = source.indexOf(0, from + 1) + 1;
    const end = endOfValue(source, type, value);
    if (end < 0) return false;
    visit(source.toString('utf8', from + 1, value - 1), { type, from, value, end });
    from = end;
  }
  return true;
}

function documentOf(elements: readonly Buffer[]): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32LE(elements.reduce((sum, { length }) => sum + length, 5));
  return Buffer.concat([size, ...elements, Buffer.of(0)]);
}

/** The part of a document, or of an array whose items are documents; null: it has a value of an unknown type. */
function picked(source: Buffer, branchOf: (name: string) => FieldTree | undefined): Buffer | null {
  const pieces: Buffer[] = [];
  let areKnown = true;
  const isRead = eachField(source, (field, { type, from, value, end }) => {
    const branch = branchOf(field);
    const isNested = branch !== undefined && branch.size > 0 && (type === DOCUMENT || type === ARRAY);
    if (isNested) {
      const nested = source.subarray(value, end);
      const part = type === DOCUMENT ? picked(nested, (name) => branch.get(name)) : picked(nested, () => branch);
      if (part) pieces.push(source.subarray(from, value), part);
      else areKnown = false;
    } else if (branch) pieces.push(source.subarray(from, end));
  });
  return isRead && areKnown ? documentOf(pieces) : null;
}

function endOfValue(source: Buffer, type: number, at: number): number {
  const fixed = FIXED[type];
  if (fixed !== undefined) return at + fixed;
  const more = MEASURED[type];
  if (more !== undefined) return at + source.readInt32LE(at) + more;
  return type === REGEX ? source.indexOf(0, source.indexOf(0, at) + 1) + 1 : -1;
}
