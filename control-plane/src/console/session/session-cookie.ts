import type { IncomingHttpHeaders } from 'node:http';
import type { BegunSignIn } from './oauth-sign-in.ts';
import { SESSION_SECONDS } from './sessions.ts';

const NAME = 'adsweep_console';
const SIGN_IN_NAME = 'adsweep_console_sign_in';
const SIGN_IN_SECONDS = 600;

/**
 * The id of the session in a request's cookies; '' if there is none. Of several cookies of the name, the first one
 * counts.
 */
export const sessionIdOf = (headers: IncomingHttpHeaders): string => cookieValue(headers, NAME);

function cookieValue({ cookie = '' }: IncomingHttpHeaders, wanted: string): string {
  const pairs = cookie.split(';').map((pair) => pair.trim().split('=', 2));
  return pairs.find(([name]) => name === wanted)?.[1] ?? '';
}

/** The sign-in by OAuth that this browser has begun; null if it has begun none. */
export function begunSignInOf(headers: IncomingHttpHeaders): BegunSignIn | null {
  const [state = '', verifier = '', to = ''] = cookieValue(headers, SIGN_IN_NAME).split('.', 3);
  return state === '' || verifier === ''
    ? null
    : { state, verifier, to: Buffer.from(to, 'base64url').toString('utf8') };
}

/** Keeps a sign-in that was begun, for as long as it may take; null removes it. */
export function signInCookie(begun: BegunSignIn | null, base: string, isSecure: boolean): string {
  const value = begun ? [begun.state, begun.verifier, Buffer.from(begun.to).toString('base64url')].join('.') : '';
  return cookieOf(SIGN_IN_NAME, value, `${base}/sign-in`, begun ? SIGN_IN_SECONDS : 0, isSecure);
}

/** Sets the cookie of a session, which no script can read and no other site's form is sent with; '' removes it. */
export const sessionCookie = (id: string, base: string, isSecure: boolean): string =>
  cookieOf(NAME, id, base, id === '' ? 0 : SESSION_SECONDS, isSecure);

function cookieOf(name: string, value: string, path: string, seconds: number, isSecure: boolean): string {
  const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax'];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}
