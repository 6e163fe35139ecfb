import { createHash } from 'node:crypto';
import type { Html } from '../../http/pages/html.ts';
import { hidden } from './fields.ts';

/**
 * What the fields of a form have when it is loaded, as hashes, so that only what a person changes is sent: somebody else may change the rest
 * meanwhile. `sent`: the form that was sent and is shown again, with what is wrong in it.
 */
export const loadedWith = (fields: Record<string, string>, sent: URLSearchParams): Html | null =>
  hidden('loaded', sent.get('loaded') ?? Object.entries(fields).map(markOf).join(' '));

/** The names of fields that a person has changed; all of them, if the form does not say what it was loaded with. */
export function changedIn<Name extends string>(fields: Record<Name, string>, sent: URLSearchParams): Name[] {
  const loaded = new Set((sent.get('loaded') ?? '').split(' '));
  const names = Object.keys(fields) as Name[];
  return names.filter((name) => !loaded.has(markOf([name, fields[name]])));
}

const markOf = ([name, value]: [name: string, value: string]): string =>
  createHash('sha256').update(`${name}\n${value}`).digest('base64url').slice(0, 16);
