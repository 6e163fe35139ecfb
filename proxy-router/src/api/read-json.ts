import type { IncomingMessage } from 'node:http';
import { BodyTooLarge, readBytes } from '@adsweep/shared/service/read-bytes.ts';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { ApiError, type Issue } from './api-error.ts';

const BODY_BYTES_MAX = 65_536;

/** The request's JSON body, checked. Throws ApiError 413 for one that is too large, 422 with all problems. */
export async function readJson<Schema extends TSchema>(
  schema: Schema,
  stream: IncomingMessage,
): Promise<Static<Schema>> {
  const bytes = await readBytes(stream, BODY_BYTES_MAX).catch((error: unknown) => {
    throw error instanceof BodyTooLarge ? new ApiError(413, 'request_too_large', error.message) : error;
  });
  const value = parse(bytes.toString());
  if (Value.Check(schema, value)) return value;
  throw new ApiError(422, 'validation_error', Value.Errors(schema, value).flatMap(asIssues));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(422, 'validation_error', [
      { loc: ['body'], msg: 'The body is not valid JSON.', type: 'json_invalid', ctx: {} },
    ]);
  }
}

type SchemaError = ReturnType<typeof Value.Errors>[number];

function asIssues({ instancePath, keyword, message, params }: SchemaError): Issue[] {
  const at = ['body', ...instancePath.split('/').slice(1)];
  const each = (names: readonly string[], type: string, msg: string) =>
    names.map((name) => ({ loc: [...at, name], msg, type, ctx: {} }));
  if ('requiredProperties' in params) return each(params.requiredProperties, 'missing', 'This field is required.');
  if ('additionalProperties' in params)
    return each(params.additionalProperties, 'unexpected_field', 'This field is not known here.');
  // An unexpected field is reported once more, by name, as a value that nothing matches.
  if (keyword === 'boolean') return [];
  return [{ loc: at, msg: message, type: keyword, ctx: {} }];
}
