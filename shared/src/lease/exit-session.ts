import { createHmac } from 'node:crypto';
import { HOUR_MS } from '../durations.ts';
import { sameSecret } from '../service/bearer.ts';
import { JOB_LIMITS } from './job-limits.ts';

/**
 * The lease that an exit session is made for. `fence`: the time of the lease in microseconds, by the clock of Redis.
 */
type Leased = { jobId: string; fence: number };

/**
 * What the session of an enrolled node's lease opens: `session` selects the exit, `attempts` is how many its job can
 * make at the most.
 */
export type LeasedSession = { session: string; attempts: number };

/** What the tickets of a lease may have at the most: their number, and the bytes of all of them together. */
export type LeaseAllowance = { tickets: number; bytes: number };

/** A lease ends before this age, however many members it has; the rest is for clocks that differ. */
const VALID_MS = 3 * HOUR_MS;
const ATTEMPTS_LENGTH = 2;
const SIGNATURE_LENGTH = 16;
const SIGNED = new RegExp(
  `^([0-9a-f]{32}([0-9a-z]{9,11}))([0-9a-z]{${ATTEMPTS_LENGTH}})[0-9a-f]{${SIGNATURE_LENGTH}}$`,
);

/**
 * The exit session of a lease. It consists of letters and digits, because it becomes part of providers' user names.
 * Each lease has a new one: a retry must not use the same exit again.
 */
export const exitSession = ({ jobId, fence }: Leased): string => `${jobId.replaceAll('-', '')}${fence.toString(36)}`;

/**
 * The same for a lease of an enrolled node, with the number of its attempts and signed for that node: the proxy-router
 * issues an enrolled node tickets for such a session alone. `secret`: as of its pass (router-pass.ts).
 */
export function signedExitSession(secret: string, lease: Leased, nodeId: string, attempts: number): string {
  const text = `${exitSession(lease)}${attempts.toString(36).padStart(ATTEMPTS_LENGTH, '0')}`;
  return `${text}${signature(secret, nodeId, text)}`;
}

/**
 * The session in one that was signed for this node under one of the secrets in a list separated by commas, within the
 * last hours; null: it was not.
 */
export function openExitSession(signed: string, secrets: string, nodeId: string, now: Date): LeasedSession | null {
  const [, session = '', fence = '', attempts = ''] = SIGNED.exec(signed) ?? [];
  if (session === '' || now.getTime() - Number.parseInt(fence, 36) / 1_000 > VALID_MS) return null;
  const own = signed.slice(-SIGNATURE_LENGTH);
  const isSigned = secrets
    .split(',')
    .filter((secret) => sameSecret(own, signature(secret, nodeId, `${session}${attempts}`)));
  return isSigned.length > 0 ? { session, attempts: Number.parseInt(attempts, 36) } : null;
}

const ATTEMPT_BYTES = Math.max(...Object.values(JOB_LIMITS).map(({ ticket_bytes }) => ticket_bytes));

/**
 * What a lease of so many attempts needs: each runs a second time if its browser ends, and requests for a ticket whose
 * answer is lost are repeated. Pure.
 */
export const allowanceOf = (attempts: number): LeaseAllowance => ({
  tickets: 4 * attempts,
  bytes: 2 * attempts * ATTEMPT_BYTES,
});

const signature = (secret: string, nodeId: string, text: string): string =>
  createHmac('sha256', secret).update(`exit session\n${nodeId}\n${text}`).digest('hex').slice(0, SIGNATURE_LENGTH);
