import { CODE, refusal } from '../refusals.ts';
import type { Fields } from '../stored-document.ts';
import { fieldOf, isFields, isPosition } from '../values/path-values.ts';

/** A field of a document that an update reads and writes. */
export type UpdatedField = {
  /** Undefined where the field is missing. */
  get(): unknown;
  set(value: unknown): void;
  unset(): void;
};

/** The most elements that an array is padded with to reach a position: a mistyped position must not fill the disk. */
const LARGEST_GAP = 1500;

/**
 * The field at a path without wildcards. Missing parents are created only when the field is written. A write copies the
 * parents on its path: it changes `fields` themselves, and nothing that they contain.
 */
export function fieldAt(fields: Fields, segments: readonly string[]): UpdatedField {
  return {
    get: () => segments.reduce<unknown>(child, fields),
    set: (value) => {
      const last = segments.at(-1)!;
      setChild(containerOf(fields, segments), last, value);
    },
    unset: () => {
      if (segments.reduce<unknown>(child, fields) === undefined) return;
      const parent = containerOf(fields, segments);
      const last = segments.at(-1)!;
      if (isFields(parent)) delete parent[last];
      else if (Array.isArray(parent)) parent[Number(last)] = null;
    },
  };
}

function child(value: unknown, segment: string): unknown {
  if (Array.isArray(value)) return isPosition(segment) ? value[Number(segment)] : undefined;
  return isFields(value) ? fieldOf(value, segment) : undefined;
}

function containerOf(fields: Fields, segments: readonly string[]): unknown {
  return segments.slice(0, -1).reduce<unknown>((value, segment) => {
    const existing = child(value, segment);
    if (existing !== undefined && !isFields(existing) && !Array.isArray(existing)) return existing;
    const own = Array.isArray(existing) ? [...existing] : { ...existing };
    setChild(value, segment, own);
    return own;
  }, fields);
}

function setChild(parent: unknown, segment: string, value: unknown): void {
  if (isFields(parent)) parent[segment] = value;
  else if (Array.isArray(parent) && isPosition(segment)) setElement(parent, Number(segment), value);
  else throw refusal(CODE.pathNotViable, `Cannot create field '${segment}' in what is no document`);
}

function setElement(items: unknown[], position: number, value: unknown): void {
  if (position > items.length + LARGEST_GAP) {
    throw refusal(CODE.badValue, `position ${position} is too far from the end of an array of ${items.length}`);
  }
  while (items.length < position) items.push(null);
  items[position] = value;
}
