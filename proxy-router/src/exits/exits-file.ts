import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { lineOf } from '@adsweep/shared/validation/issue.ts';
import { jsonProblem } from '@adsweep/shared/validation/json-problem.ts';
import { schemaIssues } from '@adsweep/shared/validation/schema-issues.ts';
import { isTimezone } from '@adsweep/shared/validation/timezone.ts';
import { type Static, type TObject, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { Value } from 'typebox/value';
import { parseUpstream } from '../providers/dial-upstream.ts';
import { type ListedExit, ListedExitSchema } from '../providers/exit.ts';
import { type ProviderConfig, ProviderConfigSchema, providerConfigProblems } from '../providers/provider-config.ts';
import { type HostMapping, hostMappingProblems } from './host-mapping.ts';

/** TypeBox stops at 8 problems by default. */
Settings.Set({ maxErrors: 1_000 });

const ExitsFileSchema = Type.Object(
  {
    exits: Type.Optional(Type.Array(ListedExitSchema)),
    providers: Type.Optional(Type.Array(ProviderConfigSchema)),
    hosts: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
);

/** A file may have tens of thousands of exits, and is read while tickets are issued. */
const [ofFile, ofExit, ofProvider] = [
  Compile(ExitsFileSchema),
  Compile(ListedExitSchema),
  Compile(ProviderConfigSchema),
];

/** The content of an exits file, with country codes in upper case. */
export type ExitsFile = { exits: ListedExit[]; providers: ProviderConfig[]; hosts: HostMapping };

/** An exits file that cannot be used; `problems` lists all of them. */
export class ExitsFileError extends OperatorError {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`the exits file cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Defaults for an exits file: host mappings, and exits if the file has neither exits nor providers. */
export type ExitsBase = Pick<ExitsFile, 'exits' | 'hosts'>;

/** The result of reading an exits file. `providers` have their valid fields, even if the file cannot be used (null). */
export type ExitsFileReading = { file: ExitsFile | null; providers: Partial<ProviderConfig>[]; problems: string[] };

/** {@link readExitsFile} that throws {@link ExitsFileError} with all problems. */
export function parseExitsFile(text: string, builtIn: readonly string[], base: ExitsBase | null = null): ExitsFile {
  const { file, problems } = readExitsFile(text, builtIn, base);
  if (!file) throw new ExitsFileError(problems);
  return file;
}

/**
 * Reads the JSON of an exits file; `builtIn` are the providers that an exit may name. Without a `base` the file needs
 * exits or providers. A problem in one field does not hide problems in others. Throws {@link ExitsFileError} for text
 * that is not JSON.
 */
export function readExitsFile(text: string, builtIn: readonly string[], base: ExitsBase | null): ExitsFileReading {
  const parsed = parseJson(text);
  const sections = Object.fromEntries(fieldsOf(parsed));
  const exits = arrayOf(sections.exits).map((exit) =>
    ofExit.Check(exit) ? exit : validFields(ListedExitSchema, exit),
  );
  const providers = arrayOf(sections.providers).map((provider) =>
    ofProvider.Check(provider) ? provider : validFields(ProviderConfigSchema, provider),
  );
  const problems = [
    ...schemaProblems(parsed),
    ...missingExits(sections, base),
    ...exitProblems(exits, builtIn),
    ...providerProblems(providers, builtIn),
    ...hostMappingProblems(fieldsOf(sections.hosts)),
  ];
  return { file: problems.length === 0 ? fileOf(parsed, base) : null, providers, problems };
}

/** The content of a file without problems. */
function fileOf(parsed: unknown, base: ExitsBase | null): ExitsFile {
  const { exits: own, providers = [], hosts = {} } = ofFile.Parse(parsed);
  const exits = own ?? (providers.length === 0 ? base?.exits : undefined) ?? [];
  const listed = exits.map((exit) => ({ ...exit, country_code: exit.country_code.toUpperCase() }));
  return { exits: listed, providers, hosts: { ...base?.hosts, ...hosts } };
}

function missingExits({ exits, providers }: Record<string, unknown>, base: ExitsBase | null): string[] {
  const isMissing = exits === undefined && (providers === undefined || arrayOf(providers).length === 0) && !base;
  return isMissing ? ['/exits is missing, and there are no /providers'] : [];
}

const arrayOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ExitsFileError([`it is not valid JSON: ${jsonProblem(error)}`]);
  }
}

function schemaProblems(parsed: unknown): string[] {
  if (ofFile.Check(parsed)) return [];
  const issues = schemaIssues(Value.Errors(ExitsFileSchema, parsed), ExitsFileSchema, parsed, []);
  return issues.map(lineOf);
}

function exitProblems(exits: Partial<ListedExit>[], builtIn: readonly string[]): string[] {
  const isUsed = repeats([]);
  return exits.flatMap(({ id, provider, upstream, timezone, latitude, longitude }, index) => {
    const problems: string[] = [];
    if (timezone !== undefined && !isTimezone(timezone))
      problems.push(`/exits/${index}/timezone ${timezone} is no IANA timezone, such as America/Chicago`);
    if ((latitude === undefined) !== (longitude === undefined))
      problems.push(`/exits/${index} has one of latitude and longitude without the other`);
    if (isUsed(id)) problems.push(`/exits/${index}/id ${id} is used twice`);
    if (provider !== undefined && !builtIn.includes(provider)) {
      problems.push(`/exits/${index}/provider ${provider} is unknown; known: ${builtIn.join(', ')}`);
    }
    if (provider === 'list' && !parseUpstream(upstream ?? ''))
      problems.push(`/exits/${index}/upstream is not http://user:pass@host:port, https://... or socks5://...`);
    if (provider === 'direct' && upstream !== undefined)
      problems.push(`/exits/${index}/upstream belongs to the provider list`);
    return problems;
  });
}

function providerProblems(providers: Partial<ProviderConfig>[], builtIn: readonly string[]): string[] {
  const isUsed = repeats(builtIn);
  return providers.flatMap((config, index) => {
    const problems = providerConfigProblems(config);
    if (isUsed(config.id)) problems.push(`id ${config.id} is used twice`);
    return problems.map((problem) => `/providers/${index} ${problem}`);
  });
}

/** Returns whether an id was seen before; those in `taken` were. */
function repeats(taken: readonly string[]): (id: string | undefined) => boolean {
  const ids = new Set(taken);
  return (id) => {
    if (id === undefined) return false;
    const isKnown = ids.has(id);
    ids.add(id);
    return isKnown;
  };
}

/** The fields of an object that match the schema, each on its own; {} for anything but an object. Pure. */
function validFields<Schema extends TObject>(schema: Schema, value: unknown): Partial<Static<Schema>> {
  const isValid = ([name, field]: [string, unknown]) => {
    const own = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    return own !== undefined && Value.Check(own, field);
  };
  return Object.fromEntries(fieldsOf(value).filter(isValid)) as Partial<Static<Schema>>;
}

/** The names and values of an object; none for anything else. Pure. */
const fieldsOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
