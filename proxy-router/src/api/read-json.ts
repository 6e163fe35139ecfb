import type { IncomingMessage } from 'node:http';
import { BodyTooLarge, readBytes } from '@adsweep/shared/service/read-bytes.ts';
import { schemaIssues } from '@adsweep/shared/validation/schema-issues.ts';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { ApiError } from './api-error.ts';

const BODY_BYTES_MAX = 65_536;

/** The request's JSON body, validated. Throws ApiError 413 for one that is too large, 422 with all problems. */
export async function readJson<Schema extends TSchema>(
  schema: Schema,
  stream: IncomingMessage,
): Promise<Static<Schema>> {
  const bytes = await readBytes(stream, BODY_BYTES_MAX).catch((error: unknown) => {
    throw error instanceof BodyTooLarge ? new ApiError(413, 'request_too_large', error.message) : error;
  });
  const value = parse(bytes.toString());
  if (Value.Check(schema, value)) return value;
  throw new ApiError(422, 'validation_error', schemaIssues(Value.Errors(schema, value), schema, value, ['body']));
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
