import assert from 'node:assert/strict';
import { KEYS, type RunningApi } from './running-api.ts';

type Sent = { form?: Record<string, string>; cookie?: string; headers?: Record<string, string> };

/** The host that requests without a browser name: that of the public URL in tests. */
const ORIGIN = 'https://adsweep.example';

/** Requests of the console as a browser would send them, without following redirects. */
export function consoleBrowser(api: Pick<RunningApi, 'port'>) {
  const send = async (method: string, path: string, { form, cookie = '', headers = {} }: Sent = {}) => {
    const answer = await fetch(`http://127.0.0.1:${api.port}/console${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...(method === 'POST' && { origin: ORIGIN }), ...headers },
      ...(form && { body: new URLSearchParams(form) }),
    });
    const setCookie = answer.headers.get('set-cookie') ?? '';
    const to = answer.headers.get('location');
    return { status: answer.status, headers: answer.headers, text: await answer.text(), to, setCookie };
  };
  const get = (path: string, cookie = '', headers = {}) => send('GET', path, { cookie, headers });
  const post = (path: string, form: Record<string, string>, cookie = '', headers = {}) =>
    send('POST', path, { form, cookie, headers });

  return {
    get,
    post,

    /** Signs in; the cookie of the session. */
    async signIn(key: string = KEYS.ours): Promise<string> {
      const { status, setCookie } = await post('/sign-in', { key });
      assert.equal(status, 303);
      return setCookie.split(';', 1)[0]!;
    },

    /** The token of the forms on a page. */
    async tokenOf(path: string, cookie: string): Promise<string> {
      const { text } = await get(path, cookie);
      return /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
    },
  };
}
