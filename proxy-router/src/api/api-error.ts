import type { Issue } from '@adsweep/shared/validation/issue.ts';

/** A refusal as the caller reads it: status, `code`, and a text or the refused fields. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string | Issue[];

  constructor(status: number, code: string, detail: string | Issue[]) {
    super(typeof detail === 'string' ? detail : code);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}
