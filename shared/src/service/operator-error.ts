/** A problem that the operator can fix; the message says how. */
export class OperatorError extends Error {}

/**
 * Prints why the process cannot start to standard error and exits with 1. Errors of our own are printed with their
 * stack.
 */
export function failStart(error: unknown): never {
  console.error(error instanceof OperatorError ? error.message : error);
  process.exit(1);
}
