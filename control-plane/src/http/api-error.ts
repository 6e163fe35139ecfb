import { codeOf, ERRORS, type ErrorCode, type Issue } from './errors.ts';

/** The most items one answer carries, so that a hostile body cannot make it large. */
const ITEMS_MAX = 200;

/** A refusal: `detail` is for the client, `cause` for the log alone. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | Issue[];
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    detail: string | Issue[],
    more: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(typeof detail === 'string' ? detail : code, { cause: more.cause });
    this.code = code;
    this.detail = detail;
    this.headers = more.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** A 422 with all the items. */
export function refused(issues: Issue[]): ApiError {
  if (issues.length <= ITEMS_MAX) return new ApiError(codeOf(issues), issues);
  const left = issues.length - ITEMS_MAX;
  const last: Issue = { loc: ['body'], msg: `And ${left} more problems.`, type: 'too_many_problems', ctx: {} };
  return new ApiError(codeOf(issues), [...issues.slice(0, ITEMS_MAX), last]);
}

/** A 404 for `what`, such as `scan`: missing and another organization's look the same. */
export const notFound = (what: string): ApiError => new ApiError('not_found', `There is no such ${what}.`);
