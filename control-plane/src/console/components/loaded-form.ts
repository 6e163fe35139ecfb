import { createHash } from 'node:crypto';
import { refused } from '../../http/api-error.ts';
import type { Html } from '../../http/pages/html.ts';
import { hidden } from './fields.ts';

/**
 * What the fields of a form have when it is loaded, as hashes, so that only what a person changes is sent: somebody
 * else may change the rest meanwhile. `sent`: the form that was sent and is shown again, with what is wrong in it.
 */
export const loadedWith = (fields: Record<string, string>, sent: URLSearchParams): Html | null =>
  hidden('loaded', sent.get('loaded') ?? marksOf(fields));

/** The names of fields that a person has changed; all of them, if the form does not say what it was loaded with. */
function changedIn<Name extends string>(fields: Record<Name, string>, sent: URLSearchParams): Name[] {
  const loaded = new Set((sent.get('loaded') ?? '').split(' '));
  const names = Object.keys(fields) as Name[];
  return names.filter((name) => !loaded.has(markOf([name, fields[name]])));
}

/**
 * The names of fields that a person has changed of a record that has the fields `current` now. Throws 422 for fields
 * that somebody else has changed too since the form was loaded, to something else, because saving would undo that. From
 * then on `sent` says that it was loaded with what these have now: sent again, it replaces them.
 */
export function changedAlone<Name extends string>(
  fields: Record<Name, string>,
  current: Record<Name, string>,
  sent: URLSearchParams,
): Name[] {
  const changed = changedIn(fields, sent);
  // A form that does not say what it was loaded with is all meant.
  if (!sent.has('loaded')) return changed;
  const byOthers = new Set(changedIn(current, sent));
  const lost = changed.filter(
    (name) => byOthers.has(name) && markOf([name, fields[name]]) !== markOf([name, current[name]]),
  );
  if (lost.length === 0) return changed;
  const isMeant = (name: string) => (changed as string[]).includes(name);
  const loaded = Object.entries<string>(fields).map(([name, value]): [string, string] => [
    name,
    isMeant(name) ? current[name as Name] : value,
  ]);
  sent.set('loaded', marksOf(Object.fromEntries(loaded)));
  const msg =
    'Somebody else has changed this meanwhile: open the page anew to see it. Sending the form again replaces it.';
  throw refused(lost.map((name) => ({ loc: ['body', name], msg, type: 'changed_meanwhile', ctx: {} })));
}

const marksOf = (fields: Record<string, string>): string => Object.entries(fields).map(markOf).join(' ');

/** The ends of lines are not compared: a browser sends them as CRLF, whatever they were. */
const markOf = ([name, value]: [name: string, value: string]): string =>
  createHash('sha256')
    .update(`${name}\n${value.replaceAll(/\r\n?/g, '\n')}`)
    .digest('base64url')
    .slice(0, 16);
