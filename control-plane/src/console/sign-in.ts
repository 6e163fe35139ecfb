import type { IncomingMessage } from 'node:http';
import { ApiError } from '../http/api-error.ts';
import type { Answer } from '../http/route.ts';
import type { PageRequest } from '../http/serve-console.ts';
import type { Query } from './api/console-api.ts';
import type { Schemas } from './api/schemas.ts';
import type { ConsoleAnswers } from './frame/answers.ts';
import type { ConsoleAssets } from './frame/assets.ts';
import { signedOutPage } from './frame/frame.ts';
import { signInForm } from './pages/sign-in.ts';
import type { OAuthSignIn } from './session/oauth-sign-in.ts';
import { returnPath } from './session/return-path.ts';
import { begunSignInOf, sessionIdOf, signInCookie } from './session/session-cookie.ts';
import type { Credential, Sessions } from './session/sessions.ts';

/** An API key has at most 500 characters. */
const SIGN_IN_BYTES_MAX = 8 * 1024;
const API_KEY = /^[\x21-\x7e]{1,500}$/;

export type SignInParts = {
  sessions: Sessions;
  oauth: OAuthSignIn;
  /** Whose credential it is; null: it is not valid. */
  readWho: (request: PageRequest, credential: string) => Promise<Schemas['Credential'] | null>;
  /** Counts an attempt to sign in; throws `ApiError` beyond the limit of an address. */
  countSignIn: (request: IncomingMessage) => Promise<void>;
  answers: ConsoleAnswers;
  assets: ConsoleAssets;
  link: (path: string, query?: Query) => string;
  /** The path of the console, without a slash at its end. */
  base: string;
  /** The header that keeps a session in the browser; '' ends it there. */
  keepSession: (id: string) => Record<string, string>;
  isSecure: boolean;
};

/** What the form says above its field; null: nothing. */
type Shown = { problem: string | null; status?: number; isKeyWrong?: boolean };

/** The sign-in of people: with an API key, or by OAuth. */
export function signIns(parts: SignInParts) {
  const { sessions, oauth, readWho, countSignIn, answers, assets, link, base, keepSession, isSecure } = parts;

  const form = (to: string, { problem, status = 200, isKeyWrong = false }: Shown): Answer => {
    const fields = signInForm(link('/sign-in'), to, { problem, isKeyWrong, oauth: link('/sign-in/oauth', { to }) });
    return answers.page(status, signedOutPage('Sign in', assets, fields));
  };

  /** Begins a session, whose id is new, whichever one the browser had. */
  const begin = async ({ headers }: PageRequest, credential: Credential, to: string): Promise<Answer> => {
    await sessions.end(sessionIdOf(headers));
    const { id } = await sessions.begin(credential, new Date());
    return answers.redirect(to, keepSession(id));
  };

  return {
    /** The form for an API key, which leads to the path `to` afterwards. */
    form,

    /** Signs in with the key of the form. */
    async byKey(request: PageRequest): Promise<Answer> {
      const sent = await request.readForm(SIGN_IN_BYTES_MAX, null);
      const to = returnPath(sent.get('to'), base);
      try {
        await countSignIn(request.stream);
        const key = (sent.get('key') ?? '').trim();
        if (!API_KEY.test(key) || !(await readWho(request, key)))
          return form(to, { problem: 'This is not a valid API key.', status: 401, isKeyWrong: true });
        return await begin(request, { kind: 'key', key }, to);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return form(to, { problem: error.message, status: error.status });
      }
    },

    /** Sends the browser to the authorization server. */
    beginOAuth({ query }: PageRequest): Answer {
      const { location, begun } = oauth.begin(returnPath(query.get('to'), base));
      return answers.redirect(location, { 'Set-Cookie': signInCookie(begun, base, isSecure) });
    },

    /** Signs in with the code with which the browser returned from there. */
    async finishOAuth(request: PageRequest): Promise<Answer> {
      const begun = begunSignInOf(request.headers);
      const credential = await oauth.finish(request.query, begun);
      if (!credential) return form(base, { problem: 'The sign-in by OAuth was not finished.', status: 401 });
      return begin(request, credential, returnPath(begun?.to ?? null, base));
    },
  };
}
