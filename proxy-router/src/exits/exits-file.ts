import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type ListedExit, ListedExitSchema } from '../providers/listed-exit.ts';
import { type ProviderConfig, ProviderConfigSchema, providerConfigProblems } from '../providers/provider-config.ts';
import { parseUpstream } from '../providers/upstream.ts';
import { type HostMapping, hostMappingProblems } from './host-mapping.ts';

const ExitsFileSchema = Type.Object(
  {
    exits: Type.Optional(Type.Array(ListedExitSchema)),
    providers: Type.Optional(Type.Array(ProviderConfigSchema)),
    hosts: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
);

/** The content of an exits file, with country codes in upper case. */
export type ExitsFile = { exits: ListedExit[]; providers: ProviderConfig[]; hosts: HostMapping };

/** An exits file that cannot be used: `problems` names every one of them. */
export class ExitsFileError extends OperatorError {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`the exits file cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** What an exits file leaves out: mappings of hosts, and exits where it has neither exits nor providers. */
export type ExitsBase = Pick<ExitsFile, 'exits' | 'hosts'>;

/**
 * Reads the JSON of an exits file; `builtIn` are the providers an exit may give. Without a `base` it needs exits or providers. Throws
 * {@link ExitsFileError} with all problems.
 */
export function parseExitsFile(text: string, builtIn: readonly string[], base: ExitsBase | null = null): ExitsFile {
  const parsed = parseJson(text);
  const problems = schemaProblems(parsed);
  if (problems.length > 0) throw new ExitsFileError(problems);
  const { exits: own, providers = [], hosts = {} } = Value.Parse(ExitsFileSchema, parsed);
  const exits = own ?? (providers.length === 0 ? base?.exits : []);
  if (!exits) problems.push('/exits is missing, and there are no /providers');
  problems.push(...exitProblems(exits ?? [], builtIn), ...providerProblems(providers, builtIn));
  problems.push(...hostMappingProblems(hosts));
  if (problems.length > 0) throw new ExitsFileError(problems);
  const listed = (exits ?? []).map((exit) => ({ ...exit, country_code: exit.country_code.toUpperCase() }));
  return { exits: listed, providers, hosts: { ...base?.hosts, ...hosts } };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ExitsFileError([`it is not valid JSON: ${withoutExcerpt((error as Error).message)}`]);
  }
}

/** V8 shows the text around the fault, which may be a password. */
const withoutExcerpt = (message: string): string => message.replace(/, (\.\.\.)?".*is not valid JSON$/s, '');

function schemaProblems(parsed: unknown): string[] {
  return Value.Errors(ExitsFileSchema, parsed).map(({ instancePath, message, params }) => {
    const named = 'additionalProperties' in params ? `: ${params.additionalProperties}` : '';
    return `${instancePath || '/'} ${message}${named}`;
  });
}

function exitProblems(exits: ListedExit[], builtIn: readonly string[]): string[] {
  const ids = new Set<string>();
  return exits.flatMap(({ id, provider, upstream }, index) => {
    const problems: string[] = [];
    if (ids.has(id)) problems.push(`/exits/${index}/id ${id} is used twice`);
    if (!builtIn.includes(provider)) {
      problems.push(`/exits/${index}/provider ${provider} is unknown; known: ${builtIn.join(', ')}`);
    }
    if (provider === 'list' && !parseUpstream(upstream ?? ''))
      problems.push(`/exits/${index}/upstream is not http://user:pass@host:port, https://... or socks5://...`);
    if (provider === 'direct' && upstream !== undefined)
      problems.push(`/exits/${index}/upstream belongs to the provider list`);
    ids.add(id);
    return problems;
  });
}

function providerProblems(providers: ProviderConfig[], builtIn: readonly string[]): string[] {
  const ids = new Set<string>(builtIn);
  return providers.flatMap((config, index) => {
    const problems = providerConfigProblems(config);
    if (ids.has(config.id)) problems.push(`id ${config.id} is used twice`);
    ids.add(config.id);
    return problems.map((problem) => `/providers/${index} ${problem}`);
  });
}
