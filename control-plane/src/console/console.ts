import type { IncomingMessage } from 'node:http';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { ApiError } from '../http/api-error.ts';
import type { ApiInProcess } from '../http/call-routes.ts';
import type { Html } from '../http/pages/html.ts';
import { asApiError } from '../http/request-lifecycle.ts';
import type { Answer } from '../http/route.ts';
import { CONSOLE_PATH, type ConsoleSurface, type PageRequest } from '../http/serve-console.ts';
import type { Store } from '../platform/store.ts';
import { at, consoleApi, type Query, withQuery } from './api/console-api.ts';
import type { Schemas } from './api/schemas.ts';
import { consoleAnswers } from './frame/answers.ts';
import { assetAnswer, assetsBelow } from './frame/assets.ts';
import { signedOutPage } from './frame/frame.ts';
import { problemCard } from './pages/sign-in.ts';
import { oauthSignIn } from './session/oauth-sign-in.ts';
import { refreshSessions } from './session/refresh-session.ts';
import { pathOfReferrer, returnPath } from './session/return-path.ts';
import { isSameOrigin } from './session/same-origin.ts';
import { sessionCookie, sessionIdOf } from './session/session-cookie.ts';
import { sessionStore } from './session/session-store.ts';
import { openSessions } from './session/sessions.ts';
import { signIns } from './sign-in.ts';
import { type VisitParts, visitPages } from './visit-page.ts';

export type ConsoleParts = Pick<VisitParts, 'publicUrl' | 'counted' | 'endOAuthSession'> & {
  store: Store;
  api: ApiInProcess;
  /** Counts an attempt to sign in; throws `ApiError` beyond the limit of an address. */
  countSignIn: (request: IncomingMessage) => Promise<void>;
  /** Where this process serves the API, for its tokens. */
  ownUrl: string;
  /** The `client_id` of the console. */
  clientId: string;
  /** Called with the cause of an error that is shown as a page with the status 500, and the id of its request. */
  failed: (cause: unknown, requestId: string) => void;
};

/**
 * The console: pages for people, made of what the public API answers to the credential that they signed in with.
 * Permissions, validation and errors are those of the API.
 */
export function openConsole(parts: ConsoleParts): ConsoleSurface {
  const { store, api, publicUrl, countSignIn, failed, ownUrl, clientId } = parts;
  const { pathname, protocol } = new URL(publicUrl);
  const root = pathname.replace(/\/+$/, '');
  const base = root + CONSOLE_PATH;
  const isSecure = protocol === 'https:';
  const link = (path: string, query?: Query): string => withQuery(base + path, query);
  const assets = assetsBelow(link);
  const answers = consoleAnswers(isSecure);
  const sessions = openSessions(sessionStore(store));
  const redirectUri = `${publicUrl}${CONSOLE_PATH}/sign-in/callback`;
  const oauth = oauthSignIn({ publicUrl, ownUrl, clientId, redirectUri });
  const keepSession = (id: string) => ({ 'Set-Cookie': sessionCookie(id, base, isSecure) });

  /** Whose credential it is; null: it is not valid. This call is the one that the rate limit counts. */
  const readWho = (request: PageRequest, credential: string): Promise<Schemas['Credential'] | null> =>
    consoleApi(api, { credential }, request)
      .ask<Schemas['Credential']>(at`/account/credential`)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'unauthorized') return null;
        throw error;
      });

  /** Leads to the sign-in, and from there to the page that was asked for, or to that of the form that was sent. */
  const toSignIn = ({ method, path, query, headers: sent }: PageRequest, headers: Record<string, string>): Answer => {
    const asked = path === '' ? {} : { to: link(path, query) };
    const lost = { to: returnPath(pathOfReferrer(sent), base), unsaved: 'yes' };
    return answers.redirect(link('/sign-in', method === 'POST' ? lost : asked), headers);
  };

  /** An error as the refusal that is shown; an internal one is logged. Throws if the connection was lost. */
  const asRefusal = (error: unknown, { requestId }: PageRequest): ApiError => {
    if (error instanceof ConnectionLost) throw error;
    const refusal = asApiError(error);
    if (refusal.status !== 500) return refusal;
    failed(refusal.cause, requestId);
    return new ApiError('internal_error', `${refusal.message} Tell the operator the id of this request: ${requestId}`);
  };

  const common = { sessions, oauth, readWho, answers, assets, link, base, keepSession };
  const signIn = signIns({ ...common, countSignIn, isSecure });
  const refreshed = refreshSessions(sessions, oauth);
  const visitPage = visitPages({ ...parts, ...common, refreshed, root, toSignIn, asRefusal });

  const problemPage = (status: number, title: string, card: Html, headers: Record<string, string> = {}): Answer =>
    answers.page(status, signedOutPage(title, assets, card), headers);

  const dispatch = async (request: PageRequest): Promise<Answer> => {
    const { path, method, headers } = request;
    if (path.startsWith('/assets/')) {
      const asset = assetAnswer(path.slice('/assets/'.length));
      if (asset) return asset;
    }
    // People write addresses with a slash at the end; the links of pages are relative to the path without it.
    if (method !== 'POST' && path.endsWith('/')) return answers.redirect(link(path.slice(0, -1), request.query));
    if (method === 'POST' && !isSameOrigin(headers, publicUrl)) {
      const title = 'This form came from another site';
      return problemPage(403, 'Not allowed', problemCard(title, 'Nothing was changed.', link(''), 'Go to the console'));
    }
    if (path === '/sign-in' && method === 'POST') return signIn.byKey(request);
    if (path === '/sign-in/oauth' && method === 'GET') return signIn.beginOAuth(request);
    if (path === '/sign-in/callback' && method === 'GET') return signIn.finishOAuth(request);
    const id = sessionIdOf(headers);
    const session = id === '' ? null : await sessions.find(id, new Date());
    if (path === '/sign-in') {
      const to = returnPath(request.query.get('to'), base);
      const problem = request.query.has('unsaved') ? UNSAVED : null;
      return session ? answers.redirect(to) : signIn.form(to, { problem });
    }
    return session ? visitPage(request, session) : toSignIn(request, id === '' ? {} : keepSession(''));
  };

  return {
    /**
     * Answers a request. What is refused before a person is known, such as beyond the rate limit, has a page without
     * the navigation.
     */
    answer: (request) =>
      dispatch(request).catch((error: unknown) => {
        const { status, message, headers } = asRefusal(error, request);
        const again = request.method === 'POST' ? link('') : link(request.path, request.query);
        const card = problemCard('This is not possible now', message, again, 'Try again');
        return problemPage(status, 'Not possible', card, headers);
      }),
  };
}

const UNSAVED = 'You are no longer signed in, so what you sent was not done. Sign in, and send it again.';
