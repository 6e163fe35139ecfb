import type { IncomingHttpHeaders } from 'node:http';
import { SESSION_SECONDS } from './sessions.ts';

const NAME = 'adsweep_console';

/** The id of the session in a request's cookies; '' if there is none. Of several cookies of the name, the first one counts. */
export function sessionIdOf({ cookie = '' }: IncomingHttpHeaders): string {
  const pairs = cookie.split(';').map((pair) => pair.trim().split('=', 2));
  return pairs.find(([name]) => name === NAME)?.[1] ?? '';
}

/** Sets the cookie of a session, which no script can read and no other site's form is sent with; '' removes it. */
export function sessionCookie(id: string, base: string, isSecure: boolean): string {
  const parts = [
    `${NAME}=${id}`,
    `Path=${base}`,
    `Max-Age=${id === '' ? 0 : SESSION_SECONDS}`,
    'HttpOnly',
    'SameSite=Lax',
  ];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}
