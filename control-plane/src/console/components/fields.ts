import { fieldValue, type Html, html, type Inserted } from '../../http/pages/html.ts';
import type { Problems } from './problems.ts';

/**
 * What all fields of a form have. `name`: that of the form; `path`: that of the API's field, if it is another one;
 * `hint`: a sentence.
 */
type Field = { name: string; label: string; path?: string; hint?: Inserted; problems?: Problems };
type TextField = Field & {
  value?: string | number | null | undefined;
  type?: 'text' | 'url' | 'number' | 'date' | 'email' | 'password' | 'search' | 'datetime-local';
  placeholder?: string;
  required?: boolean;
  min?: number;
  max?: number;
};
type AreaField = Omit<TextField, 'type'> & { rows?: number; code?: boolean };
type Option = { value: string; label: string };
type SelectField = Field & {
  value?: string | null | undefined;
  options: readonly (Option | { group: string; options: readonly Option[] })[];
  required?: boolean;
};

/** Fields of words, which may be written from right to left. */
const TEXTS = ['text', 'search'];

/** The label of a field, its control, and under it what is wrong with it. */
function around(
  { name, label, path = name, hint, problems }: Field,
  control: (attributes: Html) => Html,
  classes = '',
): Html {
  const wrong = problems?.of(path) ?? [];
  const describedBy = [wrong.length > 0 && `${name}-problem`, hint && `${name}-hint`].filter(Boolean).join(' ');
  const attributes = html`id="${name}" name="${name}"${wrong.length > 0 && html` aria-invalid="true"`}${describedBy !== '' && html` aria-describedby="${describedBy}"`}`;
  return html`<div class="field${classes !== '' && ` ${classes}`}"><label for="${name}">${label}</label>${control(attributes)}${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}${wrong.length > 0 && html`<p class="wrong" id="${name}-problem">${wrong.join(' ')}</p>`}</div>`;
}

export function textField({ value, type = 'text', placeholder, required, min, max, ...field }: TextField): Html {
  return around(
    field,
    (attributes) =>
      html`<input ${attributes} type="${type}"${TEXTS.includes(type) && html` dir="auto"`} value="${fieldValue(value ?? '')}"${placeholder !== undefined && html` placeholder="${placeholder}"`}${required && html` required`}${min !== undefined && html` min="${min}"`}${max !== undefined && html` max="${max}"`} spellcheck="false" autocomplete="${type === 'password' ? 'new-password' : 'off'}">`,
    type === 'number' || type === 'date' ? 'short' : '',
  );
}

export function areaField({ value, rows = 4, code, placeholder, required, ...field }: AreaField): Html {
  return around(
    field,
    (attributes) =>
      html`<textarea ${attributes} rows="${rows}"${code && html` class="code-area"`}${placeholder !== undefined && html` placeholder="${placeholder}"`}${required && html` required`} spellcheck="false" autocomplete="off" dir="auto">
${fieldValue(value ?? '')}</textarea>`,
    'wide-field',
  );
}

/**
 * A list to choose from. A value that is none of the options is one more, so that a form changes nothing that it does
 * not show.
 */
export function selectField({ value, options, required, ...field }: SelectField): Html {
  const known = options.flatMap((entry) => ('group' in entry ? entry.options : [entry]));
  const isKnown = !value || known.some((option) => option.value === value);
  const all = isKnown ? options : [...options, { value, label: value }];
  const one = (option: Option) =>
    html`<option value="${fieldValue(option.value)}"${option.value === (value ?? '') && html` selected`}>${option.label}</option>`;
  const shown = all.map((entry) =>
    'group' in entry ? html`<optgroup label="${entry.group}">${entry.options.map(one)}</optgroup>` : one(entry),
  );
  return around(field, (attributes) => html`<select ${attributes}${required && html` required`}>${shown}</select>`);
}

type Choice = { name: string; value: string; label: Inserted; checked: boolean; hint?: string | undefined };

/** One of several choices, or one that can be ticked. */
export const choice = (type: 'checkbox' | 'radio', { name, value, label, checked, hint }: Choice): Html =>
  html`<label class="choice"><input type="${type}" name="${name}" value="${fieldValue(value)}"${checked && html` checked`}><span>${label}${hint !== undefined && html`<small>${hint}</small>`}</span></label>`;

/** Choices that belong together. `wrong`: what is wrong with them, of only one group of this legend on a page. */
export function choices(legend: string, all: Html[], wrong: string[] = []): Html {
  const id = `${legend.toLowerCase().replaceAll(/\W+/g, '-')}-problem`;
  const isWrong = wrong.length > 0;
  return html`<fieldset class="choices"${isWrong && html` aria-describedby="${id}"`}><legend>${legend}</legend><div>${all}</div>${isWrong && html`<p class="wrong" id="${id}">${wrong.join(' ')}</p>`}</fieldset>`;
}

export const hidden = (name: string, value: string | number | null | undefined): Html | null =>
  value === null || value === undefined || value === ''
    ? null
    : html`<input type="hidden" name="${name}" value="${fieldValue(value)}">`;

/** A button that sends its form. */
export const button = (
  label: Inserted,
  {
    name,
    value,
    tone = 'main',
    key,
  }: { name?: string; value?: string; tone?: 'main' | 'plain' | 'danger'; key?: string } = {},
): Html =>
  html`<button class="button ${tone}"${name !== undefined && html` name="${name}"`}${value !== undefined && html` value="${fieldValue(value)}"`}${key !== undefined && html` data-key="${key}"`}>${label}</button>`;

/** A link that looks like a button. */
export const linkButton = (label: Inserted, href: string, tone: 'main' | 'plain' = 'plain'): Html =>
  html`<a class="button ${tone}" href="${href}">${label}</a>`;
