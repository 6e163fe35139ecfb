import { bearerCredential, isOneOfSecrets } from './bearer.ts';

/** Whether a request's `Authorization` header opens `/metrics`: a bearer credential (RFC 6750), one of `tokens` (separated by commas). */
export function mayReadMetrics(authorization: string | undefined, tokens: string): boolean {
  return isOneOfSecrets(bearerCredential(authorization), tokens);
}

/** The answer to those who may not. */
export const METRICS_REFUSAL = {
  detail: 'Metrics need the metrics token, or the node token where none is set.',
  code: 'unauthorized',
};
