import { refusedBody } from './read-body.ts';

/** More than any form has. Reading half a million takes seconds. */
const FIELDS_MAX = 20_000;
const AMPERSAND = 0x26;

/**
 * The fields of a form (`application/x-www-form-urlencoded`). Throws 422 `too_many_values` before it reads more than a
 * form may have.
 */
export function parseForm(bytes: Buffer): URLSearchParams {
  let fields = 1;
  for (let at = bytes.indexOf(AMPERSAND); at >= 0; at = bytes.indexOf(AMPERSAND, at + 1)) fields++;
  if (fields > FIELDS_MAX) throw refusedBody('too_many_values', `The form has more than ${FIELDS_MAX} fields.`);
  return new URLSearchParams(bytes.toString('utf8'));
}
