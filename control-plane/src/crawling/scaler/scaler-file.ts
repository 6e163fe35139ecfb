import { accessSync, constants, readFileSync } from 'node:fs';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { jsonProblem } from '@adsweep/shared/validation/json-problem.ts';
import { schemaIssues } from '@adsweep/shared/validation/schema-issues.ts';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const Count = Type.Integer({ minimum: 0, maximum: 1_000 });
const Path = Type.String({ minLength: 1 });

/** The file that `ADSWEEP_SCALER_FILE` names. */
const ScalerFileSchema = Type.Object(
  {
    /** Names the containers, and distinguishes them from those of other farms on the same engine. */
    farm: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,30}$' }),
    /** Bounds of all hosts together. */
    min: Count,
    max: Count,
    /** Seconds for which a number of nodes must not have been needed before nodes are drained. */
    cool_down_seconds: Type.Integer({ minimum: 30, maximum: 86_400 }),
    hosts: Type.Array(
      Type.Object(
        {
          name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$' }),
          docker: Type.Union([
            Type.Object({ socket: Path }, { additionalProperties: false }),
            Type.Object(
              {
                host: Path,
                port: Type.Integer({ minimum: 1, maximum: 65_535 }),
                tls: Type.Optional(
                  Type.Object({ ca: Path, certificate: Path, key: Path }, { additionalProperties: false }),
                ),
              },
              { additionalProperties: false },
            ),
          ]),
          min: Count,
          max: Count,
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 200 },
    ),
    /** The body of Docker's `POST /containers/create`; the scaler adds name, host name, label and `ADSWEEP_NODE_ID`. */
    container: Type.Object({
      Image: Type.String({ minLength: 1 }),
      Env: Type.Optional(Type.Array(Type.String())),
      Labels: Type.Optional(Type.Record(Type.String(), Type.String())),
      HostConfig: Type.Optional(Type.Object({})),
      NetworkingConfig: Type.Optional(Type.Object({})),
    }),
  },
  { additionalProperties: false },
);
export type ScalerFile = Static<typeof ScalerFileSchema>;

/** Reads the file. Throws an OperatorError with all problems. */
export function readScalerFile(path: string): ScalerFile {
  const found = parse(path);
  const issues = schemaIssues(Value.Errors(ScalerFileSchema, found), ScalerFileSchema, found, []);
  const problems = issues.map(({ loc, msg }) => `${loc.join('.') || 'the file'}: ${msg}`);
  if (problems.length > 0) throw problem(path, problems);
  const file = found as ScalerFile;
  const names = file.hosts.map(({ name }) => name);
  if (new Set(names).size < names.length) problems.push('hosts: two of them have the same name');
  if (file.min > file.max || file.hosts.some(({ min, max }) => min > max)) problems.push('min: it is greater than max');
  problems.push(...file.hosts.flatMap(unreadableFiles));
  if (problems.length > 0) throw problem(path, problems);
  return file;
}

/** The files of a host's certificates that cannot be read. */
function unreadableFiles({ name, docker }: ScalerFile['hosts'][number]): string[] {
  const files = 'tls' in docker && docker.tls ? Object.entries(docker.tls) : [];
  return files.flatMap(([use, file]) => {
    try {
      accessSync(file, constants.R_OK);
      return [];
    } catch (cause) {
      return [`hosts: ${use} of ${name}: ${(cause as Error).message}`];
    }
  });
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw problem(path, [jsonProblem(cause)]);
  }
}

const problem = (path: string, problems: string[]) =>
  new OperatorError(`the scaler's file ${path} cannot be used:\n${problems.map((one) => `  - ${one}`).join('\n')}`);
