import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type ListedExit, ListedExitSchema } from '../providers/listed-exit.ts';
import { type HostMapping, hostMappingProblems } from './host-mapping.ts';

const ExitsFileSchema = Type.Object(
  {
    exits: Type.Array(ListedExitSchema),
    hosts: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
);

/** The content of an exits file, with country codes in upper case. */
export type ExitsFile = { exits: ListedExit[]; hosts: HostMapping };

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
  const problems = schemaProblems(parsed);
  if (problems.length > 0) throw new ExitsFileError(problems);
  const file = Value.Parse(ExitsFileSchema, parsed);
  const hosts = file.hosts ?? {};
  problems.push(...exitProblems(file.exits, providers), ...hostMappingProblems(hosts));
  if (problems.length > 0) throw new ExitsFileError(problems);
  return { exits: file.exits.map((exit) => ({ ...exit, country_code: exit.country_code.toUpperCase() })), hosts };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ExitsFileError([`it is not valid JSON: ${(error as Error).message}`]);
  }
}

function schemaProblems(parsed: unknown): string[] {
  return Value.Errors(ExitsFileSchema, parsed).map(({ instancePath, message, params }) => {
    const named = 'additionalProperties' in params ? `: ${params.additionalProperties}` : '';
    return `${instancePath || '/'} ${message}${named}`;
  });
}

function exitProblems(exits: ListedExit[], providers: readonly string[]): string[] {
  const ids = new Set<string>();
  return exits.flatMap(({ id, provider }, index) => {
    const problems: string[] = [];
    if (ids.has(id)) problems.push(`/exits/${index}/id ${id} is used twice`);
    if (!providers.includes(provider)) {
      problems.push(`/exits/${index}/provider ${provider} is unknown; known: ${providers.join(', ')}`);
    }
    ids.add(id);
    return problems;
  });
}
