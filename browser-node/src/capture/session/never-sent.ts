import type { EventPayload } from '../devtools/devtools.ts';

type Failed = Pick<EventPayload<'Network.loadingFailed'>, 'errorText' | 'blockedReason' | 'corsErrorStatus'>;

/** What a page's own policy, mixed content, credentials in the address, or a client of the browser forbids. */
const FORBIDDEN = new Set(['csp', 'mixed-content', 'origin', 'inspector']);

/**
 * Whether a request that got no answer was refused inside the browser before it was sent: by a policy, for its port (Fetch standard, 2.9),
 * or because the CORS preflight before it, a request of its own, was not granted. What fails for its answer was sent: an answer that the
 * page may not read (CORS, CORP, ORB) or that is not what it asked for (integrity). Pure.
 */
export const isNeverSent = ({ errorText, blockedReason, corsErrorStatus }: Failed): boolean =>
  FORBIDDEN.has(blockedReason ?? '') ||
  errorText === 'net::ERR_UNSAFE_PORT' ||
  /Preflight/.test(corsErrorStatus?.corsError ?? '');
