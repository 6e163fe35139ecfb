import { isIP } from 'node:net';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { ProxyTypeSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const Place = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

const ExitSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
    country_code: Type.String({ pattern: '^[A-Za-z]{2}$' }),
    proxy_type: ProxyTypeSchema,
    region: Place,
    city: Place,
    isp: Place,
    pool_size: Type.Integer({ minimum: 1 }),
    provider: Type.String({ minLength: 1 }),
  },
  { additionalProperties: false },
);

const ExitsFileSchema = Type.Object(
  {
    exits: Type.Array(ExitSchema),
    hosts: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
);

/** One line of the exits file: a way out, where it leaves, and how many addresses stand behind it. */
export type ListedExit = Static<typeof ExitSchema>;

/** What the exits file says: country codes in upper case; `hosts` maps names to addresses that the guard would refuse. */
export type ExitsFile = { exits: ListedExit[]; hosts: Record<string, string> };

/** An exits file that cannot be used: `problems` names every one of them. */
export class ExitsFileError extends OperatorError {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`the exits file cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Reads the JSON of an exits file; `providers` are the names an exit may give. Throws {@link ExitsFileError} with all problems. */
export function parseExitsFile(text: string, providers: readonly string[]): ExitsFile {
  const parsed = parseJson(text);
  const problems = shapeProblems(parsed);
  if (problems.length > 0) throw new ExitsFileError(problems);
  const file = Value.Parse(ExitsFileSchema, parsed);
  const hosts = file.hosts ?? {};
  problems.push(...exitProblems(file.exits, providers), ...hostProblems(hosts));
  if (problems.length > 0) throw new ExitsFileError(problems);
  return { exits: file.exits.map((exit) => ({ ...exit, country_code: exit.country_code.toUpperCase() })), hosts };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ExitsFileError([`it is no JSON: ${(error as Error).message}`]);
  }
}

function shapeProblems(parsed: unknown): string[] {
  return Value.Errors(ExitsFileSchema, parsed).map(({ instancePath, message, params }) => {
    const named = 'additionalProperties' in params ? `: ${params.additionalProperties}` : '';
    return `${instancePath || '/'} ${message}${named}`;
  });
}

function exitProblems(exits: ListedExit[], providers: readonly string[]): string[] {
  const seen = new Set<string>();
  return exits.flatMap(({ id, provider }, index) => {
    const problems: string[] = [];
    if (seen.has(id)) problems.push(`/exits/${index}/id ${id} is there twice`);
    if (!providers.includes(provider)) {
      problems.push(`/exits/${index}/provider ${provider} is unknown; known: ${providers.join(', ')}`);
    }
    seen.add(id);
    return problems;
  });
}

const HOST_PATTERN = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/i;

function hostProblems(hosts: Record<string, string>): string[] {
  return Object.entries(hosts).flatMap(([pattern, address]) => {
    const problems: string[] = [];
    if (!HOST_PATTERN.test(pattern)) problems.push(`/hosts/${pattern} is no name, *.name, or name:port`);
    if (readAddress(address) === null) problems.push(`/hosts/${pattern} leads to ${address}, which is no ip:port`);
    return problems;
  });
}

/** An `ip:port` or `[ipv6]:port`, null for anything else. */
export function readAddress(text: string): { host: string; port: number } | null {
  const [, ipv6, ipv4, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = ipv6 ?? ipv4 ?? '';
  const port = Number(digits);
  return isIP(host) !== 0 && port > 0 && port < 65_536 ? { host, port } : null;
}
