/** A problem that the operator can fix: the message says all they need. */
export class OperatorError extends Error {}

/** Says on standard error why the process cannot start, and ends it with 1. A fault of ours comes with its stack. */
export function failStart(error: unknown): never {
  console.error(error instanceof OperatorError ? error.message : error);
  process.exit(1);
}
