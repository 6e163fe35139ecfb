import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { codeOf, ERRORS, type ErrorCode } from './errors.ts';

/** Maximum number of issues in a response, so that a hostile body cannot make it large. */
const ITEMS_MAX = 100;

/**
 * An error response: `detail` is for the client, `cause` is only logged. `isPartlyDone`: a part of the request was
 * carried out, and the rest is when it is repeated with its `Idempotency-Key`.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | Issue[];
  readonly headers: Record<string, string>;
  isPartlyDone = false;

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

  /** Whether nothing of the request was carried out. */
  get isRefusal(): boolean {
    return this.status < 500 && !this.isPartlyDone;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/**
 * A 422 with the first hundred issues, and one with the number of the others. `isWhole` false: `issues` are not all.
 */
export function refused(issues: Issue[], isWhole = true): ApiError {
  if (issues.length <= ITEMS_MAX && isWhole) return new ApiError(codeOf(issues), issues);
  const shown = issues.slice(0, ITEMS_MAX);
  const left = issues.length - shown.length;
  const msg = isWhole ? `And ${left} more ${left === 1 ? 'problem' : 'problems'}.` : 'And more problems.';
  return new ApiError(codeOf(issues), [...shown, { loc: ['body'], msg, type: 'too_many_problems', ctx: {} }]);
}

/** A 404 for `what`, such as `scan`. Items of other organizations get the same response. */
export const notFound = (what: string): ApiError => new ApiError('not_found', `There is no such ${what}.`);
