import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import { given } from './given.ts';
import type { Issue } from './issue.ts';
import { oneOf, type Requirement, requirementOf, wrongType } from './requirement.ts';
import { pointerSteps, valueAt } from './value-at.ts';

/**
 * The issues for TypeBox's errors of `value`, with paths below `root`; none for an error that another one of the same
 * value describes better (the branches of a union, the summary beside each unexpected field).
 */
export function schemaIssues(
  errors: TLocalizedValidationError[],
  schema: TSchema,
  value: unknown,
  root: string[],
): Issue[] {
  const unions = unionsAmong(errors);
  return errors.flatMap((error) => {
    const path = [...root, ...pathIn(value, pointerSteps(error.instancePath))];
    if (error.keyword === 'required')
      return error.params.requiredProperties.map((name) => ({
        loc: [...path, name],
        msg: 'This field is required.',
        type: 'missing',
        ctx: {},
      }));
    const unmet = unmetBy(error, unions, schema);
    if (!unmet) return [];
    const ctx = { ...given(valueAt(value, path.slice(root.length))), ...unmet.ctx };
    return [{ loc: path, msg: unmet.msg, type: unmet.type, ctx }];
  });
}

function unmetBy(error: TLocalizedValidationError, unions: Unions, schema: TSchema): Requirement | null {
  if (error.keyword === 'anyOf') return unmetByUnion(error, unions, schema);
  if (isBranch(error, unions)) return null;
  return requirementOf(error, schemaAt(schema, error.schemaPath));
}

/** The unions that were not met, by their schema path, each with its closest branch; null: none. */
type Unions = Map<string, string | null>;

/** A branch is closest if the value has its type and fails other rules. */
function unionsAmong(errors: TLocalizedValidationError[]): Unions {
  const paths = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ schemaPath }) => schemaPath);
  return new Map([...new Set(paths)].map((path) => [path, closestBranch(path, errors)]));
}

/** A union reports either the errors of its closest branch or, without one, the types or values that it accepts. */
function unmetByUnion({ schemaPath }: { schemaPath: string }, unions: Unions, schema: TSchema): Requirement | null {
  const branches = (schemaAt(schema, schemaPath) as { anyOf?: Record<string, unknown>[] }).anyOf ?? [];
  const constants = branches.flatMap((branch) => ('const' in branch ? [branch.const] : []));
  if (constants.length === branches.length) return oneOf(constants);
  if (unions.get(schemaPath)) return null;
  return wrongType(branches.map((branch) => String(branch.type ?? 'value')));
}

/** Whether an error belongs to a branch of a union that is not reported. */
function isBranch({ schemaPath }: { schemaPath: string }, unions: Unions): boolean {
  for (const [union, closest] of unions)
    if (schemaPath.startsWith(`${union}/anyOf/`))
      return schemaPath !== closest && !schemaPath.startsWith(`${closest}/`);
  return false;
}

/** Path of the branch that has the value's type and other rules that failed; null where no branch has the type. */
function closestBranch(union: string, errors: TLocalizedValidationError[]): string | null {
  const failedByType = new Map<string, boolean>();
  for (const { schemaPath, keyword } of errors) {
    if (!schemaPath.startsWith(`${union}/anyOf/`)) continue;
    const branch = union + schemaPath.slice(union.length).split('/', 3).join('/');
    const isType = schemaPath === branch && (keyword === 'type' || keyword === 'const');
    failedByType.set(branch, isType || failedByType.get(branch) === true);
  }
  for (const [branch, failed] of failedByType) if (!failed) return branch;
  return null;
}

/** The steps as clients write them: indexes of lists are numbers. */
function pathIn(value: unknown, steps: string[]): (string | number)[] {
  return steps.map((step, depth) => (Array.isArray(valueAt(value, steps.slice(0, depth))) ? Number(step) : step));
}

function schemaAt(schema: TSchema, schemaPath: string): object {
  const found = valueAt(schema, pointerSteps(schemaPath.replace(/^#/, '')));
  return typeof found === 'object' && found !== null ? found : {};
}
