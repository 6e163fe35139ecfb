import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Html, html } from '../../http/pages/html.ts';

/** Why the API refused a request: by the path of the field (`proxy.city`), and what is about no field of the form. */
export type Problems = { code: string; of: (...fields: string[]) => string[]; all: { field: string; msg: string }[] };

export const NO_PROBLEMS: Problems = { code: '', of: () => [], all: [] };

type Item = Pick<Issue, 'loc' | 'msg' | 'type'>;

/** `words`: what a form says of a problem, where a field of it is several of the API's. */
export function problemsOf(
  { code, detail }: Pick<ApiError, 'code' | 'detail'>,
  words: (item: Item) => string = ({ msg }) => msg,
): Problems {
  const items: Item[] = typeof detail === 'string' ? [{ loc: ['body'], msg: detail, type: code }] : detail;
  const all = items.map((item) => ({ field: item.loc.slice(1).join('.'), msg: words(item) }));
  const isOf = (field: string, name: string) => field === name || field.startsWith(`${name}.`);
  return {
    code,
    all,
    of: (...names) => all.filter(({ field }) => names.some((name) => isOf(field, name))).map(({ msg }) => msg),
  };
}

/**
 * The page of a form whose request the API refused, as `show` makes it of the problems, with the status of the refusal.
 * Throws what is no refusal, and a 401: it ends the session.
 */
export async function refusedForm<P extends object>(
  error: unknown,
  show: (problems: Problems) => P | Promise<P>,
  words?: (item: Item) => string,
): Promise<P & { status: number }> {
  if (!(error instanceof ApiError) || error.status === 401) throw error;
  return { ...(await show(problemsOf(error, words))), status: error.status };
}

/** All problems of a form, above it; each is at its field too. The code leads to what can be done about it. */
export function showProblems({ all, code }: Problems, helpOn: (code: string) => string): Html | null {
  if (all.length === 0) return null;
  const items = all.map(({ field, msg }) => html`<li>${field !== '' && html`<code>${field}</code> `}${msg}</li>`);
  return html`<section class="card problems" role="alert" id="problems"><h2>${all.length === 1 ? 'This was refused' : `${all.length} problems`} <a class="count" href="${helpOn(code)}">${code}</a></h2><ul>${items}</ul></section>`;
}
