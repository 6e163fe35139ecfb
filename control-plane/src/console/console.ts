import type { IncomingMessage } from 'node:http';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { ApiError } from '../http/api-error.ts';
import type { ApiInProcess } from '../http/call-routes.ts';
import { lacksPermission, type Permission } from '../http/caller.ts';
import { headingId, pathOf } from '../http/documents/render-document.ts';
import { type Html, html } from '../http/pages/html.ts';
import { asApiError } from '../http/request-lifecycle.ts';
import type { Answer } from '../http/route.ts';
import { CONSOLE_PATH, type ConsoleSurface, type PageRequest } from '../http/serve-console.ts';
import type { Store } from '../platform/store.ts';
import { at, BeyondLastPage, consoleApi, type Query, withQuery } from './api/console-api.ts';
import type { Schemas } from './api/schemas.ts';
import { withDone } from './components/actions.ts';
import { hidden } from './components/fields.ts';
import { NO_PROBLEMS, problemsOf } from './components/problems.ts';
import { consoleAnswers } from './frame/answers.ts';
import { assetAnswer, assetsBelow } from './frame/assets.ts';
import { signedInPage, signedOutPage } from './frame/frame.ts';
import { firstPath } from './frame/navigation.ts';
import { findPage } from './pages/find-page.ts';
import { problemCard } from './pages/sign-in.ts';
import { oauthSignIn } from './session/oauth-sign-in.ts';
import { refreshSessions } from './session/refresh-session.ts';
import { returnPath } from './session/return-path.ts';
import { isSameOrigin } from './session/same-origin.ts';
import { sessionCookie, sessionIdOf } from './session/session-cookie.ts';
import { sessionStore } from './session/session-store.ts';
import { bearerOf, formToken, isOwnForm, openSessions, type Session } from './session/sessions.ts';
import { signIns } from './sign-in.ts';
import type { PageResult, Visit } from './visit.ts';

export type ConsoleParts = {
  store: Store;
  api: ApiInProcess;
  /** The base URL that clients use. */
  publicUrl: string;
  /** Counts an attempt to sign in; throws `ApiError` beyond the limit of an address. */
  countSignIn: (request: IncomingMessage) => Promise<void>;
  /** The credential with which the rate limit does not count calls again that a page makes. */
  counted: (credential: string) => string;
  /** Ends the session that the browser of a request has with the authorization server. */
  endOAuthSession: (request: IncomingMessage) => Promise<void>;
  /** Where this process serves the API, for its tokens. */
  ownUrl: string;
  /** The `client_id` of the console. */
  clientId: string;
  /** Called with the cause of an error that is shown as a page with the status 500, and the id of its request. */
  failed: (cause: unknown, requestId: string) => void;
};

/** The path of the page whose link or form led here; null: it is not known. */
function pathOfReferrer({ headers }: Pick<PageRequest, 'headers'>): string | null {
  const url = URL.parse(headers.referer ?? '');
  return url && url.pathname + url.search;
}

/** Forms are as large as the bodies that the API accepts. */
const FORM_BYTES_MAX = 1024 * 1024;

/**
 * The console: pages for people, made of what the public API answers to the credential that they signed in with. Permissions, validation and
 * errors are those of the API.
 */
export function openConsole(parts: ConsoleParts): ConsoleSurface {
  const { store, api, publicUrl, countSignIn, counted, endOAuthSession, failed, ownUrl, clientId } = parts;
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
  const refreshed = refreshSessions(sessions, oauth);
  const keepSession = (id: string) => ({ 'Set-Cookie': sessionCookie(id, base, isSecure) });

  /** Whose credential it is; null: it is not valid. This call is the one that the rate limit counts. */
  const readWho = (request: PageRequest, credential: string): Promise<Schemas['Credential'] | null> =>
    consoleApi(api, { credential }, request)
      .ask<Schemas['Credential']>(at`/account/credential`)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'unauthorized') return null;
        throw error;
      });

  const signIn = signIns({
    sessions,
    oauth,
    readWho,
    countSignIn,
    answers,
    assets,
    link,
    base,
    keepSession,
    isSecure,
  });
  /** Leads to the sign-in, and from there to the page that was asked for, or to that of the form that was sent. */
  const toSignIn = (request: PageRequest, headers: Record<string, string>): Answer => {
    const { method, path, query } = request;
    if (method === 'POST')
      return answers.redirect(
        link('/sign-in', { to: returnPath(pathOfReferrer(request), base), unsaved: 'yes' }),
        headers,
      );
    return answers.redirect(link('/sign-in', path === '' ? {} : { to: link(path, query) }), headers);
  };

  const visitOf = (request: PageRequest, session: Session, who: Schemas['Credential']): Visit => {
    const permissions = new Set<string>(who.permissions);
    const credential = bearerOf(session);
    // A page may have hundreds of forms.
    let token: Html | undefined;
    const formId = () => `${visit.form.get('token') ?? ''}${visit.form.get('again') ?? ''}`;
    const visit: Visit = {
      api: consoleApi(api, { credential, reading: counted(credential), formId }, request),
      who,
      link,
      helpOn: (code) => `${root}/${pathOf('errors')}#${headingId(code)}`,
      publicUrl,
      request,
      query: request.query,
      params: {},
      form: new URLSearchParams(),
      may: (permission: Permission) => permissions.has(permission),
      token: () => (token ??= html`${hidden('token', formToken(session.id))}`),
      now: new Date(),
      openSeconds: Math.max(0, Number.parseInt(String(request.headers['console-open-seconds'] ?? ''), 10) || 0),
    };
    return visit;
  };

  const present = (visit: Visit, result: PageResult): Answer => {
    if ('redirect' in result)
      return answers.redirect(visit.api.wasRepeated() ? withDone(result.redirect, 'already') : result.redirect);
    if ('answer' in result) return result.answer;
    return answers.page(result.status ?? 200, signedInPage(visit, result, api.operationOf, assets));
  };

  /** A refusal of the API, on a page of its own. Forms show those of their fields themselves. */
  const refusalPage = (visit: Visit, error: ApiError): Answer => {
    const title = error.status === 404 ? 'Not found' : error.status === 403 ? 'Not allowed' : 'Not possible';
    const back = visit.form.get('back') ?? pathOfReferrer(visit.request);
    const body = html`<p><a href="${back === null ? link(firstPath(visit.may) ?? '') : returnPath(back, base)}">Go back</a></p>`;
    return present(visit, { title, status: error.status, problems: problemsOf(error), body });
  };

  /** An error as the refusal that is shown; an internal one is logged. Throws if the connection was lost. */
  const asRefusal = (error: unknown, { requestId }: PageRequest): ApiError => {
    if (error instanceof ConnectionLost) throw error;
    const refusal = asApiError(error);
    if (refusal.status !== 500) return refusal;
    failed(refusal.cause, requestId);
    return new ApiError('internal_error', `${refusal.message} Tell the operator the id of this request: ${requestId}`);
  };

  const signOut = async ({ stream }: PageRequest, session: Session): Promise<Answer> => {
    await sessions.end(session.id);
    await endOAuthSession(stream);
    if (session.credential.kind === 'oauth') await oauth.revoke(session.credential);
    return answers.redirect(link('/sign-in'), keepSession(''));
  };

  const visitPage = async (request: PageRequest, found: Session): Promise<Answer> => {
    const session = await refreshed(found);
    const who = await readWho(request, bearerOf(session));
    if (!who) {
      await sessions.end(session.id);
      return toSignIn(request, keepSession(''));
    }
    const visit = visitOf(request, session, who);
    try {
      if (request.method === 'POST') {
        visit.form = await request.readForm(FORM_BYTES_MAX, who.organization_id);
        if (!isOwnForm(session.id, visit.form.get('token') ?? ''))
          throw new ApiError('forbidden', 'This form is not one of your session. Load its page again.');
      }
      if (request.path === '/sign-out' && request.method === 'POST') return await signOut(request, session);
      if (request.path === '' && firstPath(visit.may) !== '') {
        const first = firstPath(visit.may);
        return first === null ? present(visit, NOTHING_ALLOWED) : answers.redirect(link(first));
      }
      const { route, params } = findPage(request);
      if (route.needs !== undefined && !visit.may(route.needs))
        throw lacksPermission(route.needs, { isToken: who.client_id !== null });
      visit.params = params;
      const result = await route.handle(visit);
      // Pages that are ready together would otherwise be written in one piece.
      await awaitTurn();
      return present(visit, result);
    } catch (error) {
      if (error instanceof BeyondLastPage) {
        const query = new URLSearchParams(request.query);
        query.set('page', String(error.last));
        return answers.redirect(link(request.path, query));
      }
      return refusalPage(visit, asRefusal(error, request));
    }
  };

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
    /** Answers a request. What is refused before a person is known, such as beyond the rate limit, has a page without the navigation. */
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

const NOTHING_ALLOWED = {
  title: 'Nothing to see',
  problems: NO_PROBLEMS,
  body: html`<p>This key may not read anything that the console shows.</p>`,
};
