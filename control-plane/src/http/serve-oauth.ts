import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Middleware } from 'koa';
import { ApiError } from './api-error.ts';
import { PAGE_ICON, PAGE_STYLESHEET, SIGN_IN_STYLESHEET } from './pages/html.ts';
import { readBody } from './read-body.ts';
import { parseForm } from './read-form.ts';
import { allowOnly, type RequestState } from './serve-routes.ts';

type Exchange = [request: IncomingMessage, response: ServerResponse];

/**
 * A page of the sign-in, or where the browser goes next. `returnsTo`: the origin or scheme at which the sign-in ends.
 */
export type SignInAnswer = { page: string; returnsTo: string } | { redirect: string };

/**
 * Counts a request of somebody who may be a stranger; throws `ApiError` beyond the limit. `isForPeople`: a refusal is
 * shown as a page.
 */
export type OAuthLimit = { count: (request: IncomingMessage) => Promise<void>; isForPeople: boolean };

/**
 * OAuth 2.0 as it is served: the endpoints of the authorization server, the pages on which people sign in, and the
 * metadata of the API.
 */
export type OAuthSurface = {
  /**
   * Answers a request to one of `endpoints`, which have these methods. `{id}` at the end of a path stands for the id of
   * a request.
   */
  answer: (...exchange: Exchange) => Promise<void>;
  endpoints: Record<string, readonly string[]>;
  /** By the path of an endpoint, or that of the pages. */
  limits: Record<string, OAuthLimit>;
  /** The path of the pages, with `{id}`. */
  signInPath: string;
  /** Both resolve to null for a request that does not exist, is over, or was begun in another browser. */
  signIn: {
    show: (...exchange: Exchange) => Promise<SignInAnswer | null>;
    submit: (...of: [...Exchange, form: URLSearchParams]) => Promise<SignInAnswer | null>;
  };
  /** Ends the session of the browser that sent a request; nothing happens if it has none. */
  endSession: (request: IncomingMessage) => Promise<void>;
  problemPage: (error: string, description: string) => string;
  resourceMetadataPath: string;
  resourceMetadataUrl: string;
  resourceMetadata: object;
};

/** A form has an API key of at most 500 characters. */
const FORM_BYTES_MAX = 8 * 1024;

const STYLESHEET = PAGE_STYLESHEET + SIGN_IN_STYLESHEET;
const NOT_FOUND = 'The request does not exist, is over, or was begun in another browser.';

const contentPolicy = (formAction: string): string =>
  `default-src 'none'; style-src 'self'; img-src 'self'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`;

type Served = { path: string; methods: readonly string[]; answer: (context: Context) => Promise<void> | void };

/** Serves OAuth 2.0: RFC 6749 and its companions at `/oauth/...`, and the documents of RFC 8414 and RFC 9728. */
export function serveOAuth(surface: OAuthSurface): Middleware {
  const served: Served[] = [
    fixed('/oauth/page.css', STYLESHEET, 'text/css; charset=utf-8'),
    fixed('/oauth/icon.svg', PAGE_ICON, 'image/svg+xml'),
    fixed(surface.resourceMetadataPath, surface.resourceMetadata, 'application/json'),
    { path: surface.signInPath, methods: ['GET', 'POST'], answer: (context) => answerPage(surface, context) },
    ...Object.entries(surface.endpoints).map(([path, methods]) => ({
      path,
      // The provider answers preflight requests (CORS).
      methods: [...methods, 'OPTIONS'],
      answer: (context: Context) => answerByProvider(surface, context),
    })),
  ];
  const patterns = served.map((one) => [new RegExp(`^${one.path.replace('{id}', '[\\w-]{1,100}')}$`), one] as const);

  return async (context, next) => {
    const found = patterns.find(([pattern]) => pattern.test(context.path))?.[1];
    if (!found) return next();
    (context.state as RequestState).route = found.path;
    const { methods } = found;
    if (!allowOnly(context, methods.includes('GET') ? ['HEAD', ...methods] : [...methods])) return;
    if (await isWithin(surface, surface.limits[found.path], context)) await found.answer(context);
  };
}

const fixed = (path: string, body: string | object, type: string): Served => ({
  path,
  methods: ['GET'],
  answer: (context) => {
    context.set({ 'Cache-Control': 'max-age=3600', 'Access-Control-Allow-Origin': '*' });
    context.type = type;
    context.body = body;
  },
});

/** Whether a request is within a limit; answers it if not, in the words of OAuth. */
async function isWithin(
  { problemPage }: OAuthSurface,
  limit: OAuthLimit | undefined,
  context: Context,
): Promise<boolean> {
  // A preflight request changes nothing.
  if (!limit || context.method === 'OPTIONS') return true;
  try {
    await limit.count(context.req);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    context.status = error.status;
    context.set({ ...error.headers, 'Cache-Control': 'no-store' });
    const refusal = { error: 'temporarily_unavailable', error_description: error.message };
    if (limit.isForPeople) showPage(context, problemPage(refusal.error, refusal.error_description), "'none'");
    else context.body = refusal;
    return false;
  }
}

async function answerByProvider({ answer }: OAuthSurface, context: Context): Promise<void> {
  context.set('Content-Security-Policy', contentPolicy("'self'"));
  context.respond = false;
  await answer(context.req, context.res);
}

async function answerPage({ signIn, problemPage }: OAuthSurface, context: Context): Promise<void> {
  const { req, res, method } = context;
  const isOfAnotherSite = !['same-origin', undefined].includes(req.headers['sec-fetch-site'] as string | undefined);
  const submit = async () =>
    isOfAnotherSite ? null : signIn.submit(req, res, parseForm(await readBody(req, { bytes: FORM_BYTES_MAX })));
  const answer = await (method === 'POST' ? submit() : signIn.show(req, res));
  if (answer && 'redirect' in answer) {
    context.status = 303;
    context.set('Location', answer.redirect);
    context.body = '';
    return;
  }
  context.status = answer ? 200 : 400;
  if (answer) showPage(context, answer.page, `'self' ${answer.returnsTo}`);
  else showPage(context, problemPage('invalid_request', NOT_FOUND), "'none'");
}

/** `formAction`: where its forms lead. A browser holds the redirects that follow a form to this policy too. */
function showPage(context: Context, page: string, formAction: string): void {
  context.set('Content-Security-Policy', contentPolicy(formAction));
  context.type = 'text/html; charset=utf-8';
  context.body = page;
}
