import { type Html, html, type Inserted } from '../../http/pages/html.ts';
import { returnPath } from '../session/return-path.ts';
import type { Visit } from '../visit.ts';
import { button, hidden } from './fields.ts';
import { short, unseen } from './texts.ts';

/**
 * A button that calls an operation of the API, after which the person is back on a page. `done`: a key of {@link DONE};
 * `asks`: a question that is asked first; `key`: the key that presses it; `of`: in a list, the row that it is about,
 * for those who hear the button without seeing its row.
 */
export type Action = {
  label: Inserted;
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  done: Done;
  back: string;
  tone?: 'main' | 'plain' | 'danger';
  asks?: string;
  key?: string;
  of?: string;
};

export function action(
  visit: Visit,
  { label, method, path, body, done, back, tone = 'plain', asks, key, of }: Action,
): Html {
  const fields = html`${visit.token()}${hidden('method', method)}${hidden('path', path)}${body !== undefined && hidden('body', JSON.stringify(body))}${hidden('done', done)}${hidden('back', back)}`;
  const form = (submit: Html) =>
    html`<form class="action" method="post" action="${visit.link('/act')}">${fields}${submit}</form>`;
  const name = html`${label}${of !== undefined && unseen(short(of, OF_MAX))}`;
  if (asks === undefined) return form(button(name, { tone, ...(key !== undefined && { key }) }));
  // Of one name: another question would lie over this one on a phone, and be answered in its place.
  return html`<details class="asks" name="asks"><summary class="button ${tone}">${name}</summary><div class="question"><p>${asks}</p>${form(button(html`Yes${unseen(name)}`, { tone }))}</div></details>`;
}

/** Characters of the name of a row in that of its button. */
const OF_MAX = 80;

/** What a page says after an action. */
export const DONE = {
  cancelled: 'Cancelled.',
  already: 'This form had been sent before: what it asks for was done then, and not again.',
  created: 'Created.',
  saved: 'Saved.',
  deleted: 'Deleted.',
  archived: 'Archived.',
  restored: 'Restored.',
  started: 'Started.',
  recheckedOne: 'What the scan captured is being checked again with the rules of today.',
  resolved: 'Resolved.',
  dismissed: 'Dismissed.',
  escalated: 'Escalated.',
  reopened: 'Reopened.',
  sent: 'It is sent again.',
  nothingToSend: 'Nothing is sent again: the endpoint has accepted all events of this time, or there were none.',
  tried: 'The test was sent and accepted.',
  drained: 'The node finishes its jobs and takes no more.',
  undrained: 'The node takes work again.',
  blocked: 'The node is blocked; its jobs are queued again.',
  unblocked: 'The node is no longer blocked.',
  paused: 'Paused.',
  resumed: 'Resumed.',
  requested: 'The publication was requested.',
  unpublished: 'The policy set is private again.',
  default: 'The default has changed.',
} as const;
export type Done = keyof typeof DONE;

/** The message about the action that the person just took; null: there was none. */
export const doneWords = (query: URLSearchParams): string | null => {
  const done = query.get('done') ?? '';
  return Object.hasOwn(DONE, done) ? DONE[done as Done] : null;
};

/** The address of the page that a form names, with what the page says about it. */
export const backTo = ({ form, link }: Visit, about: { done?: Done; undo?: string }): string =>
  withParameters(returnPath(form.get('back'), link('')), about);

/** The address of a page, which says this of the action. */
export const withDone = (path: string, done: Done): string => withParameters(path, { done });

function withParameters(path: string, parameters: Record<string, string>): string {
  const url = new URL(path, 'http://console.invalid');
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.pathname + url.search;
}
