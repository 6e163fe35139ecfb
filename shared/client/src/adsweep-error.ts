import type { components } from './generated/api.ts';

type Refusal = { detail?: string | components['schemas']['ValidationError']['detail']; code?: string };

/** A request that the API refused or could not serve. */
export class AdsweepError extends Error {
  override readonly name = 'AdsweepError';
  readonly status: number;
  /** A code of the API's catalogue, such as `scanning.unknown_emulator_id`; empty if the answer has none. */
  readonly code: string;
  /** Each refused field of a 422. */
  readonly items: components['schemas']['ValidationError']['detail'];
  readonly response: Response;

  /** `body`: the parsed answer, or its text if it is no JSON. */
  constructor(operation: string, response: Response, body: unknown) {
    const { detail = statusWords(response), code = '' } = isObject(body) ? (body as Refusal) : {};
    const items = Array.isArray(detail) ? detail : [];
    const text = Array.isArray(detail) ? items.map(wordsOf).join(' ') : detail;
    super([operation, response.status, code, text].filter((part) => part !== '').join(' '));
    this.status = response.status;
    this.code = code;
    this.items = items;
    this.response = response;
  }
}

/** What a status alone says. The API answers no redirect: its URL is another one, such as with https. */
function statusWords({ type, status, statusText, headers }: Response): string {
  const isRedirect = type === 'opaqueredirect' || (status >= 300 && status < 400);
  return isRedirect
    ? `${statusText}: the API is not here, but at ${headers.get('Location') ?? 'another URL'}`
    : statusText;
}

/** An item with some of the accepted values, where the API names them. */
function wordsOf({ loc, msg, ctx }: AdsweepError['items'][number]): string {
  const sample = ctx.valid_sample?.length ? ` Accepted: ${ctx.valid_sample.join(', ')}, ...` : '';
  return `${loc.join('.')}: ${msg}${sample}`;
}

/** An error in words: `fetch failed` alone says nothing, its cause does. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error ? `${message}: ${cause.message || (cause as { code?: string }).code}` : message;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
