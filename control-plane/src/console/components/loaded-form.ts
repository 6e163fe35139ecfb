import type { Html } from '../../http/pages/html.ts';
import { hidden } from './fields.ts';

/**
 * What the fields of a form have when it is loaded, so that only what a person changes is sent: somebody else may change the rest meanwhile. `sent`:
 * the form that was sent and is shown again, with what is wrong in it.
 */
export const loadedWith = (fields: Record<string, string>, sent: URLSearchParams): Html | null =>
  hidden('loaded', sent.get('loaded') ?? JSON.stringify(fields));

/** The names of the fields of a form that a person has changed; all of them, if it does not say what it was loaded with. */
export function changedIn<Name extends string>(form: URLSearchParams, names: readonly Name[]): Name[] {
  const loaded = readLoaded(form.get('loaded'));
  return names.filter((name) => loaded?.[name] !== form.get(name));
}

function readLoaded(text: string | null): Record<string, unknown> | null {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}
