import { createHmac } from 'node:crypto';
import { MINUTE_MS } from '../durations.ts';
import { sameSecret } from '../service/bearer.ts';

/**
 * How long a pass opens the proxy-router, by the clock of the control plane that made it. The node gets a new one with
 * each of its reports.
 */
export const ROUTER_PASS_MS = 5 * MINUTE_MS;

/**
 * The pass `<node>/<expiry in ms>/<HMAC-SHA256>` with which an enrolled node calls the proxy-router, because it has no
 * join token. `secret`: the join token that the control plane itself sends there.
 */
export function routerPass(secret: string, nodeId: string, now: Date): string {
  return signed(secret, nodeId, now.getTime() + ROUTER_PASS_MS);
}

function signed(secret: string, nodeId: string, expiresAt: number): string {
  const text = `${nodeId}/${expiresAt}`;
  return `${text}/${createHmac('sha256', secret).update(`router pass\n${text}`).digest('base64url')}`;
}

/**
 * The name of the node in a pass that has not expired, under one of the secrets in a list separated by commas; null: it
 * is no such pass.
 */
export function nodeOfRouterPass(credential: string, secrets: string, now: Date): string | null {
  const [nodeId = '', expiry = ''] = credential.split('/');
  if (!/^\d{13}$/.test(expiry) || Number(expiry) <= now.getTime()) return null;
  const isSigned = secrets
    .split(',')
    .filter((secret) => sameSecret(credential, signed(secret, nodeId, Number(expiry))));
  return isSigned.length > 0 ? nodeId : null;
}
