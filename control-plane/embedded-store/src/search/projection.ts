import { CODE, refusal } from '../refusals.ts';
import type { Fields } from '../stored-document.ts';
import { isFields, splitPath } from '../values/path-values.ts';
import { allExcept, type FieldTree } from '../values/picked-fields.ts';

/** Returns the projected part of a document. `shown`: the fields of a document that it reads. */
export type Projection = { (fields: Fields): Fields; shown: FieldTree };
type Project = (fields: Fields) => Fields;

type Tree = Map<string, Tree>;

/**
 * Fields to show, or fields to leave out (`_id` apart, never both). Refuses expressions, `$slice` and
 * `$elemMatch`.
 */
export function projectionOf(projection: object | undefined): Projection | null {
  const fields = Object.entries(projection ?? {});
  if (fields.length === 0) return null;
  for (const [path, shown] of fields) {
    if (![0, 1, true, false].includes(shown)) throw refusal(CODE.badValue, `'${path}' is shown (1) or left out (0)`);
  }
  const others = fields.filter(([path]) => path !== '_id');
  const showId = fields.find(([path]) => path === '_id')?.[1];
  const isInclusion = others.length > 0 ? Boolean(others[0]![1]) : Boolean(showId);
  if (others.some(([, shown]) => Boolean(shown) !== isInclusion)) {
    throw refusal(CODE.badValue, 'a projection shows fields or leaves them out, not both');
  }
  const paths = others.map(([path]) => path);
  const tree = treeOf((showId === undefined || Boolean(showId)) === isInclusion ? ['_id', ...paths] : paths);
  if (!isInclusion) {
    const whole = [...tree].filter(([, branch]) => branch.size === 0).map(([name]) => name);
    return Object.assign(excluding(tree), { shown: allExcept(new Set(whole)) });
  }
  return Object.assign(including(tree), { shown: tree });
}

function treeOf(paths: readonly string[]): Tree {
  const tree: Tree = new Map();
  for (const path of paths) {
    let branch = tree;
    for (const segment of splitPath(path)) {
      const next = branch.get(segment) ?? new Map();
      branch.set(segment, next);
      branch = next;
    }
  }
  return tree;
}

/** The projected value of a field; null: the field is omitted. */
type Shown = ((value: unknown) => unknown) | null;
const asIs = (value: unknown): unknown => value;
const NOTHING = Symbol('nothing');

const including =
  (tree: Tree): Project =>
  (fields) =>
    eachField(fields, (name) => {
      const branch = tree.get(name);
      if (!branch) return null;
      return branch.size === 0 ? asIs : (value) => within(value, including(branch), NOTHING);
    });

const excluding =
  (tree: Tree): Project =>
  (fields) =>
    eachField(fields, (name) => {
      const branch = tree.get(name);
      if (!branch) return asIs;
      return branch.size === 0 ? null : (value) => within(value, excluding(branch), value);
    });

/** `Object.fromEntries` defines fields, whatever they are called. */
function eachField(fields: Fields, shownAs: (name: string) => Shown): Fields {
  const shown = Object.entries(fields).flatMap(([name, value]) => {
    const show = shownAs(name);
    const result = show ? show(value) : NOTHING;
    return result === NOTHING ? [] : [[name, result] as const];
  });
  return Object.fromEntries(shown);
}

/** Recurses into documents and into the documents of arrays; `otherwise` is the result for any other value. */
function within(value: unknown, project: Project, otherwise: unknown): unknown {
  if (isFields(value)) return project(value);
  if (!Array.isArray(value)) return otherwise;
  const keepsScalars = otherwise !== NOTHING;
  return value.map((item) => within(item, project, keepsScalars ? item : NOTHING)).filter((item) => item !== NOTHING);
}
