import { readFileSync } from 'node:fs';
import type { Static, TObject, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { predicateOf } from '../validation/issue.ts';
import { schemaIssues } from '../validation/schema-issues.ts';
import { OperatorError } from './operator-error.ts';

/** Invalid settings; `problems` has one sentence for each. */
export class ConfigError extends OperatorError {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`the settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Reads a service's settings. Each property of `schema` is an environment variable with description and default; an
 * empty variable counts as unset. For `NAME` marked `secret: true` in the schema, `NAME_FILE` may name a file that
 * holds the value. A property with a `pattern` describes it in words as `mustBe`. A variable that is one letter away
 * from an unset setting is a problem too. Throws {@link ConfigError} with all problems at once; `further`: those that
 * the caller has found. `checks` compare settings with each other: each throws a ConfigError of its own.
 */
export function loadConfig<Schema extends TObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
  further: readonly string[] = [],
  checks: readonly ((config: Static<Schema>) => unknown)[] = [],
): Static<Schema> {
  const problems = [...further, ...misspeltSettings(Object.keys(schema.properties), env)];
  const raw: Record<string, string | number> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const text = readSetting(name, property, env, problems);
    if (text !== undefined) raw[name] = isInteger(property) && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  }
  const values = Value.Default(schema, { ...raw }) as Record<string, unknown>;
  // Setting by setting: TypeBox reports at most eight problems of one value.
  for (const [name, property] of Object.entries(schema.properties)) {
    const problem = problemOf(property, values[name], schema.required?.includes(name) ?? false);
    if (problem) problems.push(`${name} ${problem}`);
  }
  for (const check of checks) problems.push(...problemsOf(() => check(values as Static<Schema>)));
  if (problems.length > 0) throw new ConfigError(problems);
  return values as Static<Schema>;
}

function problemsOf(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const PREFIX = 'ADSWEEP_';

/** Variables of ours that are for the command line, the bootstrap, tests and benchmarks. */
const OF_OTHERS = /^ADSWEEP_(URL|WEBHOOK_SECRET|DEBIAN_MIRROR|CORPUS_DIR|CONTAINER_SCANS|(TEST|BENCH)_\w+)$/;

/** Variables of ours that are set and are none of the settings `names`: no process reads them. */
export function unreadSettings(names: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const known = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  return Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && env[name] && !known.has(name) && !OF_OTHERS.test(name),
  );
}

/**
 * A problem for each variable of ours that is set and differs in one letter from one of the settings `names` that is
 * not: otherwise it would be ignored, and the default, such as to keep everything, would be noticed weeks later.
 * Variables of other services differ in more.
 */
export function misspeltSettings(names: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const unset = names.flatMap((name) => [name, `${name}_FILE`]).filter((name) => !env[name]);
  return unreadSettings(names, env).flatMap((name) => {
    const meant = unset.find((setting) => isOneLetterApart(name, setting));
    return meant === undefined ? [] : [`${name} is no setting: ${meant} is`];
  });
}

/** Whether one letter was changed, added, left out, or exchanged with the next one. */
export function isOneLetterApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  const isSwapped = short[at] === long[at + 1] && short[at + 1] === long[at];
  return at < short.length && short.slice(at + (isSwapped ? 2 : 1)) === long.slice(at + (isSwapped ? 2 : 1));
}

/** The problem of a setting, null = none. It never contains a secret's value. */
function problemOf(property: TSchema, value: unknown, isRequired: boolean): string | null {
  if (value === undefined) return isRequired ? 'is not set' : null;
  const [issue] = schemaIssues(Value.Errors(property, value), property, value, []);
  if (!issue) return null;
  const isWorded = issue.type === 'string_pattern_mismatch' && 'mustBe' in property;
  const requirement = isWorded ? `must be ${property.mustBe}` : predicateOf(issue.msg);
  return isSecret(property) ? requirement : `${requirement}, not ${JSON.stringify(value)}`;
}

const isSecret = (property: object): boolean => 'secret' in property && property.secret === true;

const isInteger = (property: object): boolean => 'type' in property && property.type === 'integer';

function readSetting(name: string, property: object, env: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  const own = env[name];
  const file = isSecret(property) ? env[`${name}_FILE`] : undefined;
  if (own && file) problems.push(`${name} and ${name}_FILE are both set`);
  if (own || !file) return own || undefined;
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    problems.push(`${name}_FILE cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}
