import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { codeOf, ERRORS, type ErrorCode } from './errors.ts';

/** The most problems that one answer tells, so that a hostile body cannot make it large. */
const ITEMS_MAX = 100;

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

/** A 422 with the first hundred items and one that says that there are more; how many, where `isWhole`: the items are all there are. */
export function refused(issues: Issue[], isWhole = true): ApiError {
  if (issues.length <= ITEMS_MAX && isWhole) return new ApiError(codeOf(issues), issues);
  const told = issues.slice(0, ITEMS_MAX);
  const left = issues.length - told.length;
  const msg = isWhole ? `And ${left} more ${left === 1 ? 'problem' : 'problems'}.` : 'And more problems.';
  return new ApiError(codeOf(issues), [...told, { loc: ['body'], msg, type: 'too_many_problems', ctx: {} }]);
}

/** A 404 for `what`, such as `scan`: missing and another organization's look the same. */
export const notFound = (what: string): ApiError => new ApiError('not_found', `There is no such ${what}.`);
