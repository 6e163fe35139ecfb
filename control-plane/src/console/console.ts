import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { ApiError } from '../http/api-error.ts';
import type { ApiInProcess } from '../http/call-routes.ts';
import type { Permission } from '../http/caller.ts';
import { type Html, html } from '../http/pages/html.ts';
import type { Answer } from '../http/route.ts';
import { CONSOLE_PATH, type ConsoleSurface, type PageRequest } from '../http/serve-console.ts';
import { serializeByKey } from '../platform/serialize-by-key.ts';
import type { Store } from '../platform/store.ts';
import { at, consoleApi, type Query, withQuery } from './api/console-api.ts';
import type { Schemas } from './api/schemas.ts';
import { hidden } from './components/fields.ts';
import { NO_PROBLEMS, problemsOf } from './components/problems.ts';
import { assetAnswer, assetsBelow } from './frame/assets.ts';
import { bare, framed } from './frame/frame.ts';
import { firstPath } from './frame/navigation.ts';
import { PAGES } from './pages/pages.ts';
import { problemCard, signInForm } from './pages/sign-in.ts';
import { oauthSignIn } from './session/oauth-sign-in.ts';
import { returnPath } from './session/return-path.ts';
import { isSameOrigin } from './session/same-origin.ts';
import { begunSignInOf, sessionCookie, sessionIdOf, signInCookie } from './session/session-cookie.ts';
import { sessionStore } from './session/session-store.ts';
import { formToken, isOwnForm, openSessions, type Session } from './session/sessions.ts';
import type { PageResult, PageRoute, Visit } from './visit.ts';

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
  /** Called with the cause of an error that is shown as a page with the status 500. */
  failed: (cause: unknown) => void;
};

/** Everything that a page needs comes from this service; no script in a page runs, no form leads elsewhere, no other page shows it. */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // Without a referrer a browser would not say either from which page a form comes.
  'Referrer-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex, nofollow',
};

/** An API key has at most 500 characters; other forms are as large as the bodies that the API accepts. */
const SIGN_IN_BYTES_MAX = 8 * 1024;
const FORM_BYTES_MAX = 1024 * 1024;

const ROUTES = PAGES.map((route) => ({
  ...route,
  pattern: new RegExp(`^(?<_>)${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/**
 * The console: pages for people, made of what the public API answers to the credential that they signed in with. Permissions, validation and
 * errors are those of the API.
 */
export function openConsole(parts: ConsoleParts): ConsoleSurface {
  const { store, api, publicUrl, countSignIn, counted, endOAuthSession, failed, ownUrl, clientId } = parts;
  const { pathname, protocol } = new URL(publicUrl);
  const base = pathname.replace(/\/+$/, '') + CONSOLE_PATH;
  const link = (path: string, query?: Query): string => withQuery(base + path, query);
  const assets = assetsBelow(link);
  const sessions = openSessions(sessionStore(store));
  const oauth = oauthSignIn({
    publicUrl,
    ownUrl,
    clientId,
    redirectUri: `${publicUrl}${CONSOLE_PATH}/sign-in/callback`,
  });
  const inTurns = serializeByKey();
  const isSecure = protocol === 'https:';
  const cookie = (id: string) => ({ 'Set-Cookie': sessionCookie(id, base, isSecure) });

  // Browsers report it as a mistake where the connection is not encrypted.
  const isolation: Record<string, string> =
    protocol === 'https:' ? { 'Cross-Origin-Opener-Policy': 'same-origin' } : {};

  const page = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
    ...{ status, body, type: 'text/html; charset=utf-8', headers: { ...PAGE_HEADERS, ...isolation, ...headers } },
  });
  const redirect = (to: string, headers: Record<string, string> = {}): Answer => ({
    ...{ status: 303, body: '', headers: { ...headers, Location: to } },
  });

  const askForKey = (to: string, problem: string | null = null, status = 200): Answer =>
    page(status, bare('Sign in', assets, signInForm(link('/sign-in'), to, problem, link('/sign-in/oauth', { to }))));
  const toSignIn = ({ method, path, query }: PageRequest, headers = {}): Answer =>
    redirect(link('/sign-in', method === 'GET' && path !== '' ? { to: link(path, query) } : {}), headers);

  /** Whose request it is; null: the credential is not valid. This call is the one that the rate limit counts. */
  const readWho = (request: PageRequest, credential: string): Promise<Schemas['Credential'] | null> =>
    consoleApi(api, { credential }, request)
      .ask<Schemas['Credential']>(at`/account/credential`)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'unauthorized') return null;
        throw error;
      });

  /** Signs in with the key of the form. The id of the session is new, whichever one the browser had. */
  const signIn = async (request: PageRequest): Promise<Answer> => {
    const form = await request.readForm(SIGN_IN_BYTES_MAX, null);
    const to = returnPath(form.get('to'), base);
    try {
      await countSignIn(request.stream);
      const key = (form.get('key') ?? '').trim();
      if (!/^[\x21-\x7e]{1,500}$/.test(key) || !(await readWho(request, key)))
        return askForKey(to, 'This is not a valid API key.', 401);
      await sessions.end(sessionIdOf(request.headers));
      const { id } = await sessions.begin({ kind: 'key', key }, new Date());
      return redirect(to, cookie(id));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return askForKey(to, error.message, error.status);
    }
  };

  /** Begins a sign-in by OAuth, or ends it when the browser returns with a code. */
  const signInByOAuth = async (request: PageRequest): Promise<Answer> => {
    const { path, query, headers } = request;
    if (path === '/sign-in/oauth') {
      const { location, begun } = oauth.begin(returnPath(query.get('to'), base));
      return redirect(location, { 'Set-Cookie': signInCookie(begun, base, isSecure) });
    }
    const begun = begunSignInOf(headers);
    const credential = await oauth.finish(query, begun);
    if (!credential) return askForKey(base, 'The sign-in by OAuth was not finished.', 401);
    await sessions.end(sessionIdOf(headers));
    const { id } = await sessions.begin(credential, new Date());
    return redirect(returnPath(begun?.to ?? null, base), cookie(id));
  };

  /** The session with tokens that are still good. Requests of one session replace them once, in whichever processes. */
  const refreshed = async (session: Session): Promise<Session> => {
    if (isFresh(session)) return session;
    return inTurns(session.id, async () => {
      const claimed = await sessions.claimReplacement(session.id, new Date());
      if (!claimed) return replacedElsewhere(session);
      const { id, credential } = claimed;
      const replaced = credential.kind === 'key' || isFresh(claimed) ? credential : await oauth.refresh(credential);
      if (replaced) await sessions.keep(id, replaced);
      return replaced ? { id, credential: replaced } : claimed;
    });
  };

  /** The session with the tokens that another process gets for it; as it is if that takes too long. */
  const replacedElsewhere = async (session: Session): Promise<Session> => {
    for (let left = LOOKS_MAX; left > 0; left--) {
      const current = await sessions.find(session.id, new Date());
      if (!current || isFresh(current)) return current ?? session;
      await sleep(LOOK_EVERY_MS);
    }
    return session;
  };

  const visitOf = (request: PageRequest, session: Session, who: Schemas['Credential']): Visit => {
    const permissions = new Set<string>(who.permissions);
    const credential = credentialOf(session);
    // A page may have hundreds of forms.
    let token: Html | undefined;
    return {
      api: consoleApi(api, { credential, reading: counted(credential) }, request),
      ...{ who, link, publicUrl, request, query: request.query, params: {}, form: new URLSearchParams() },
      may: (permission: Permission) => permissions.has(permission),
      token: () => (token ??= html`${hidden('token', formToken(session.id))}`),
      now: new Date(),
      openSeconds: Math.max(0, Number.parseInt(String(request.headers['console-open-seconds'] ?? ''), 10) || 0),
    };
  };

  const present = (visit: Visit, result: PageResult): Answer => {
    if ('redirect' in result) return redirect(result.redirect);
    if ('answer' in result) return result.answer;
    return page(result.status ?? 200, framed(visit, result, api.operationOf, assets));
  };

  /** A refusal of the API, on a page of its own. Forms show those of their fields themselves. */
  const refusalPage = (visit: Visit, error: ApiError): Answer => {
    const title = error.status === 404 ? 'Not found' : error.status === 403 ? 'Not allowed' : 'Not possible';
    const back = visit.form.get('back');
    const body = html`<p><a href="${back === null ? link(firstPath(visit.may) ?? '') : returnPath(back, base)}">Go back</a></p>`;
    return present(visit, { title, status: error.status, problems: problemsOf(error), body });
  };

  const visitPage = async (request: PageRequest, found: Session): Promise<Answer> => {
    const session = await refreshed(found);
    const who = await readWho(request, credentialOf(session));
    if (!who) {
      await sessions.end(session.id);
      return toSignIn(request, cookie(''));
    }
    const visit = visitOf(request, session, who);
    try {
      if (request.method === 'POST') {
        visit.form = await request.readForm(FORM_BYTES_MAX, who.organization_id);
        if (!isOwnForm(session.id, visit.form.get('token') ?? ''))
          throw new ApiError('forbidden', 'This form is not one of your session. Load its page again.');
      }
      if (request.path === '/sign-out' && request.method === 'POST') {
        await sessions.end(session.id);
        await endOAuthSession(request.stream);
        if (session.credential.kind === 'oauth') await oauth.revoke(session.credential);
        return redirect(link('/sign-in'), cookie(''));
      }
      if (request.path === '' && firstPath(visit.may) !== '') {
        const first = firstPath(visit.may);
        return first === null ? present(visit, NOTHING_ALLOWED) : redirect(link(first));
      }
      const { route, params } = routeOf(request);
      visit.params = params;
      const result = await route.handle(visit);
      // Pages that are ready together would otherwise be written in one piece.
      await awaitTurn();
      return present(visit, result);
    } catch (error) {
      return refusalPage(visit, asRefusal(error));
    }
  };

  /** An error as the refusal that is shown; what is not one of the API is logged. Throws if nobody waits for the page any more. */
  const asRefusal = (error: unknown): ApiError => {
    if (error instanceof ApiError) return error;
    if (error instanceof ConnectionLost) throw error;
    failed(error);
    return new ApiError('internal_error', 'Something went wrong on our side.');
  };

  /** What is refused before it is known who asks, such as beyond the rate limit, has a page without the navigation. */
  const answer = (request: PageRequest): Promise<Answer> =>
    answerAnybody(request).catch((error: unknown) => {
      const { status, message, headers } = asRefusal(error);
      const again = request.method === 'POST' ? link('') : link(request.path, request.query);
      const card = problemCard('This is not possible now', message, again, 'Try again');
      return page(status, bare('Not possible', assets, card), headers);
    });

  const answerAnybody = async (request: PageRequest): Promise<Answer> => {
    const { path, method, headers } = request;
    if (path.startsWith('/assets/')) {
      const asset = assetAnswer(path.slice('/assets/'.length));
      if (asset) return asset;
    }
    if (method === 'POST' && !isSameOrigin(headers, publicUrl)) {
      const card = problemCard(
        'This form came from another site',
        'Nothing was changed.',
        link(''),
        'Go to the console',
      );
      return page(403, bare('Not allowed', assets, card));
    }
    if (path === '/sign-in' && method === 'POST') return signIn(request);
    if (method === 'GET' && (path === '/sign-in/oauth' || path === '/sign-in/callback')) return signInByOAuth(request);
    const id = sessionIdOf(headers);
    const session = id === '' ? null : await sessions.find(id, new Date());
    if (path === '/sign-in') {
      const to = returnPath(request.query.get('to'), base);
      return session ? redirect(to) : askForKey(to);
    }
    return session ? visitPage(request, session) : toSignIn(request, id === '' ? {} : cookie(''));
  };

  return { answer };
}

const NOTHING_ALLOWED = {
  title: 'Nothing to see',
  problems: NO_PROBLEMS,
  body: html`<p>This key may not read anything that the console shows.</p>`,
};

/** How long it is waited for tokens that another process gets. */
const LOOK_EVERY_MS = 50;
const LOOKS_MAX = 100;

const isFresh = ({ credential }: Session): boolean => credential.kind === 'key' || credential.refreshAt > Date.now();

const credentialOf = ({ credential }: Session): string =>
  credential.kind === 'key' ? credential.key : credential.accessToken;

/** The page of a request; throws 404 if there is none. */
function routeOf({ method, path }: PageRequest): { route: PageRoute; params: Record<string, string> } {
  const wanted = method === 'HEAD' ? 'GET' : method;
  for (const { pattern, ...route } of ROUTES) {
    const groups = route.method === wanted ? pattern.exec(path)?.groups : undefined;
    if (!groups) continue;
    const { _, ...params } = groups;
    return { route, params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decode(value!)])) };
  }
  throw new ApiError('not_found', 'There is no such page.');
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ApiError('not_found', 'There is no such page.');
  }
}
