import type { IncomingMessage } from 'node:http';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { ApiError } from '../http/api-error.ts';
import type { ApiInProcess } from '../http/call-routes.ts';
import { lacksPermission, type Permission } from '../http/caller.ts';
import { headingId, pathOf } from '../http/documents/render-document.ts';
import { type Html, html } from '../http/pages/html.ts';
import type { Answer } from '../http/route.ts';
import type { PageRequest } from '../http/serve-console.ts';
import { BeyondLastPage, consoleApi, type Query } from './api/console-api.ts';
import type { Schemas } from './api/schemas.ts';
import { withDone } from './components/actions.ts';
import { hidden } from './components/fields.ts';
import { NO_PROBLEMS, problemsOf } from './components/problems.ts';
import type { ConsoleAnswers } from './frame/answers.ts';
import type { ConsoleAssets } from './frame/assets.ts';
import { signedInPage } from './frame/frame.ts';
import { firstPath } from './frame/navigation.ts';
import { findPage } from './pages/find-page.ts';
import type { OAuthSignIn } from './session/oauth-sign-in.ts';
import type { RefreshSession } from './session/refresh-session.ts';
import { pathOfReferrer, returnPath } from './session/return-path.ts';
import { bearerOf, formToken, isOwnForm, type Session, type Sessions } from './session/sessions.ts';
import type { PageResult, Visit } from './visit.ts';

export type VisitParts = {
  api: ApiInProcess;
  /** The base URL that clients use. */
  publicUrl: string;
  /** The credential with which the rate limit does not count calls again that a page makes. */
  counted: (credential: string) => string;
  /** Ends the session that the browser of a request has with the authorization server. */
  endOAuthSession: (request: IncomingMessage) => Promise<void>;
  sessions: Sessions;
  oauth: OAuthSignIn;
  refreshed: RefreshSession;
  /** Whose credential it is; null: it is not valid. */
  readWho: (request: PageRequest, credential: string) => Promise<Schemas['Credential'] | null>;
  answers: ConsoleAnswers;
  assets: ConsoleAssets;
  link: (path: string, query?: Query) => string;
  /** The path of the service, and that of the console, without a slash at their ends. */
  root: string;
  base: string;
  /** The header that keeps a session in the browser; '' ends it there. */
  keepSession: (id: string) => Record<string, string>;
  toSignIn: (request: PageRequest, headers: Record<string, string>) => Answer;
  /** An error as the refusal that is shown. Throws if the connection was lost. */
  asRefusal: (error: unknown, request: PageRequest) => ApiError;
};

/** Forms are as large as the bodies that the API accepts. */
const FORM_BYTES_MAX = 1024 * 1024;

/** Answers the requests of people who are signed in: reads or changes a page, or ends the session. */
export function visitPages(parts: VisitParts) {
  const { api, publicUrl, counted, endOAuthSession, sessions, oauth, refreshed, readWho } = parts;
  const { answers, assets, link, root, base, keepSession, toSignIn, asRefusal } = parts;

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
    const back = visit.form.get('back') ?? pathOfReferrer(visit.request.headers);
    const body = html`<p><a href="${back === null ? link(firstPath(visit.may) ?? '') : returnPath(back, base)}">Go back</a></p>`;
    return present(visit, { title, status: error.status, problems: problemsOf(error), body });
  };

  const signOut = async ({ stream }: PageRequest, session: Session): Promise<Answer> => {
    await sessions.end(session.id);
    await endOAuthSession(stream);
    if (session.credential.kind === 'oauth') await oauth.revoke(session.credential);
    return answers.redirect(link('/sign-in'), keepSession(''));
  };

  /** The answer to a visit whose form, if it sent one, is one of its session. */
  const answerVisit = async (visit: Visit, session: Session): Promise<Answer> => {
    const { request } = visit;
    if (request.path === '/sign-out' && request.method === 'POST') return signOut(request, session);
    const first = firstPath(visit.may);
    if (request.path === '' && first !== '')
      return first === null ? present(visit, NOTHING_ALLOWED) : answers.redirect(link(first));
    const { route, params } = findPage(request);
    if (route.needs !== undefined && !visit.may(route.needs))
      throw lacksPermission(route.needs, { isToken: visit.who.client_id !== null });
    visit.params = params;
    const result = await route.handle(visit);
    // Pages that are ready together would otherwise be written in one piece.
    await awaitTurn();
    return present(visit, result);
  };

  return async function visitPage(request: PageRequest, found: Session): Promise<Answer> {
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
      return await answerVisit(visit, session);
    } catch (error) {
      if (error instanceof BeyondLastPage) {
        const query = new URLSearchParams(request.query);
        query.set('page', String(error.last));
        return answers.redirect(link(request.path, query));
      }
      return refusalPage(visit, asRefusal(error, request));
    }
  };
}

const NOTHING_ALLOWED = {
  title: 'Nothing to see',
  problems: NO_PROBLEMS,
  body: html`<p>This key may not read anything that the console shows.</p>`,
};
