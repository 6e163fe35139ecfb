import { CODE, refusal } from '../refusals.ts';
import type { Fields } from '../stored-document.ts';
import { KeyWriter } from '../values/key-writer.ts';
import { indexedValues } from '../values/path-values.ts';
import { writeComponent } from '../values/sort-order.ts';
import type { IndexSpec } from './index-spec.ts';

/**
 * One entry's key; its first `counted` bytes are the prefix under which it is counted, 0 if the index has no counters.
 */
export type IndexKey = { bytes: Buffer; counted: number };
/** The entries one document has in an index; `arrayAt` is the component that was an array, -1 for none. */
export type IndexEntries = { keys: IndexKey[]; arrayAt: number };

/**
 * The keys of a document: one, or one for each element of the array that a component is. None if the index is sparse
 * and the document has none of its fields. At most one component may be an array (MongoDB allows two of the same array,
 * which is not needed here).
 */
export function indexEntries(spec: IndexSpec, fields: Fields): IndexEntries {
  const parts = spec.components.map(({ segments }) => indexedValues(fields, segments));
  const present = parts.some(({ values }) => values.some((value) => value !== undefined));
  if (spec.sparse && !present) return { keys: [], arrayAt: -1 };
  const arrays = parts.flatMap(({ isArray }, at) => (isArray ? [at] : []));
  if (arrays.length > 1) {
    const paths = arrays.map((at) => spec.components[at]?.path).join(' and ');
    throw refusal(CODE.parallelArrays, `cannot index two arrays at once: ${paths} in the index ${spec.name}`);
  }
  const arrayAt = arrays[0] ?? -1;
  if (arrayAt < 0) return { keys: [keyWith(spec, parts)], arrayAt };
  const keys = new Map<string, IndexKey>();
  for (const value of elementsOf(parts[arrayAt]!.values)) {
    const key = keyWith(spec, parts, { at: arrayAt, value });
    keys.set(key.bytes.toString('latin1'), key);
  }
  return { keys: [...keys.values()], arrayAt };
}

/** A document with an empty array still has an entry in an index that is not sparse. */
const elementsOf = (values: unknown[]): unknown[] => (values.length > 0 ? values : [[]]);

function keyWith(spec: IndexSpec, parts: { values: unknown[] }[], element?: { at: number; value: unknown }): IndexKey {
  const writer = new KeyWriter();
  let counted = 0;
  spec.components.forEach(({ direction }, at) => {
    writeComponent(writer, element?.at === at ? element.value : parts[at]?.values[0], direction);
    if (at + 1 === spec.countedPrefix) counted = writer.length;
  });
  return { bytes: writer.bytes(), counted };
}
