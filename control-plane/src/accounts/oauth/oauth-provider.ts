import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import Provider, {
  type Adapter,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { ApiError } from '../../http/api-error.ts';
import { PERMISSIONS } from '../../http/caller.ts';
import { hashSecret } from './oauth-client.ts';
import { OAUTH_PATHS } from './oauth-paths.ts';

const HOUR = 60 * 60;
const DAY = 24 * HOUR;

/** Lifetimes in seconds. A refresh token's begins anew at each rotation; a grant lives as long as its last token. */
const LIFETIMES = {
  AccessToken: HOUR,
  ClientCredentials: HOUR,
  AuthorizationCode: 60,
  RefreshToken: 30 * DAY,
  Grant: 30 * DAY,
  Interaction: HOUR,
  Session: 12 * HOUR,
};

/** For whom a token is issued; `accountId`: the key that signed in. */
type Issued = { clientId: string; accountId: string | undefined };

export type OAuthParts = {
  /** The base URL that clients use: the issuer. */
  publicUrl: string;
  /** Keys that sign cookies, the newest first; the same in all processes. */
  cookieKeys: string[];
  /** Whether everybody may register a client (RFC 7591). */
  allowsRegistration: boolean;
  /** The path of the pages on which people sign in, below which each request has one. */
  signInPath: string;
  adapterOf: (model: string) => Adapter;
  /** Whether this API key, by its id, can be signed in with at this client. */
  isValidKey: (keyId: string, clientId: string) => Promise<boolean>;
  /** Whether a token belongs to the organization of a client, and is still accepted. */
  isOwnToken: (
    clientId: string,
    token: { clientId: string | undefined; accountId: string | undefined },
  ) => Promise<boolean>;
  /**
   * Counts a token that is about to be issued like a request of its organization; throws `ApiError` beyond the limit.
   */
  countIssued: (token: Issued) => Promise<void>;
  /** The page that a browser is shown for an error without a redirect URI. */
  errorPage: (error: string, description: string) => string;
  /** Called with the cause of a 500, and the id of its request. */
  failed: (cause: unknown, requestId: string) => void;
};

/**
 * The OAuth 2.0 authorization server: client credentials, and authorization code with PKCE (S256) and refresh tokens;
 * scopes are permissions, people are API keys. RFC 6749, 7009, 7591, 7636, 7662, 8414.
 */
export function oauthProvider(parts: OAuthParts): Provider {
  const provider = new Provider(parts.publicUrl, configurationOf(parts));
  // Koa would print the errors that the provider has answered already.
  provider.silent = true;
  // It believes the headers that `asPublic` sets.
  provider.proxy = true;
  provider.on('server_error', ({ res }, cause: unknown) => parts.failed(cause, String(res.getHeader('x-request-id'))));

  // Secrets are stored as hashes: the provider's copy of a client has the hash.
  Object.assign(provider.Client.prototype, {
    compareClientSecret(this: { clientSecret?: string }, actual: string): boolean {
      return this.clientSecret === hashSecret(actual);
    },
  });

  // A request without a scope asks for all that the client may do (RFC 6749, section 3.3).
  const { save } = provider.ClientCredentials.prototype;
  Object.assign(provider.ClientCredentials.prototype, {
    save(this: InstanceType<typeof provider.ClientCredentials>) {
      this.scope ??= this.client?.scope;
      return save.call(this);
    },
  });
  provider.use(async (context, next) => {
    if (context.path === OAUTH_PATHS.authorization) {
      const { client_id } = context.query;
      const client = typeof client_id === 'string' ? await provider.Client.find(client_id) : undefined;
      context.query = narrowed(context.query, client?.scope);
    }
    await next();
    if (context.path === OAUTH_PATHS.metadata) context.body = withoutOpenId(context.body as Record<string, unknown>);
  });
  return provider;
}

/** The parameters of an authorization request without what the provider would do beyond OAuth 2.0. */
function narrowed(query: ParsedUrlQuery, scopeOfClient: string | undefined): ParsedUrlQuery {
  const { scope, response_mode, ...others } = query;
  const words = typeof scope === 'string' ? scope.split(' ').filter((word) => word !== '' && word !== OPENID) : [];
  const asked = words.join(' ') || scopeOfClient;
  return {
    ...others,
    ...(Array.isArray(scope) ? { scope } : asked && { scope: asked }),
    // The pages have no scripts, so a response is never posted by a form; `fragment` is for responses with tokens.
    ...(response_mode !== undefined && { response_mode: response_mode === 'query' ? response_mode : 'unsupported' }),
  };
}

/** What marks a request of OpenID Connect: it is no permission, and no ID tokens are issued. */
const OPENID = 'openid';

/** The metadata of RFC 8414 without that of OpenID Connect. */
function withoutOpenId(metadata: Record<string, unknown>): Record<string, unknown> {
  const isOfOpenId = /^(claim|id_token_|subject_types_|jwks_uri|request_uri_)/;
  return {
    ...Object.fromEntries(Object.entries(metadata).filter(([name]) => !isOfOpenId.test(name))),
    scopes_supported: PERMISSIONS,
    response_modes_supported: ['query'],
  };
}

function configurationOf(parts: OAuthParts): Configuration {
  const policy = interactionPolicy.base();
  const keyIsGone = new interactionPolicy.Check(
    'key_is_gone',
    'the API key of the session is not valid any more, or not at this client',
    ({ oidc }: KoaContextWithOIDC) => oidc.session?.accountId !== undefined && !oidc.account,
  );
  policy.get('login')!.checks.add(keyIsGone);

  const countIssued = async ({ clientId = '', accountId }: Partial<Issued>): Promise<void> => {
    await parts.countIssued({ clientId, accountId }).catch((cause: unknown) => {
      throw cause instanceof ApiError ? tooMany(cause) : cause;
    });
  };

  return {
    adapter: (model: string) => countedBeforeUse(parts.adapterOf(model), countIssued),
    routes: {
      authorization: OAUTH_PATHS.authorization,
      token: OAUTH_PATHS.token,
      revocation: OAUTH_PATHS.revocation,
      introspection: OAUTH_PATHS.introspection,
      registration: OAUTH_PATHS.registration,
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      introspection: { enabled: true, allowedPolicy: (_context, client, token) => isOwn(client, token) },
      revocation: { enabled: true, allowedPolicy: (_context, client, token) => isOwn(client, token) },
      registration: { enabled: parts.allowsRegistration, issueRegistrationAccessToken: false },
    },
    scopes: [...PERMISSIONS],
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: {
      grant_types: ['authorization_code'],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
    // Access tokens are opaque and no ID tokens are issued, so nothing is signed with it; the provider wants a key.
    jwks: {
      keys: [
        { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), use: 'sig' },
      ],
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    pkce: { required: () => true },
    // A client's metadata could name addresses of our network.
    fetch: async () => {
      throw new Error('nothing that a client names is fetched');
    },
    rotateRefreshToken: true,
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    ttl: LIFETIMES,
    findAccount: async ({ oidc }, keyId) =>
      (await parts.isValidKey(keyId, oidc.client?.clientId ?? ''))
        ? { accountId: keyId, claims: async () => ({ sub: keyId }) }
        : undefined,
    interactions: { policy, url: (_context, { uid }) => `${parts.signInPath}/${uid}` },
    cookies: {
      keys: parts.cookieKeys,
      long: { httpOnly: true, sameSite: 'lax', signed: true },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    // A client in a browser is served from where it redirects to.
    clientBasedCORS: (_context, origin, client) =>
      (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin),
    extraTokenClaims: async (_context, token) => {
      // Those of people are counted with their code or refresh token.
      const { kind, clientId } = token as { kind: string; clientId?: string };
      if (kind === 'ClientCredentials') await countIssued({ ...(clientId !== undefined && { clientId }) });
      return undefined;
    },
    renderError: (context, { error, error_description }) => {
      context.type = 'html';
      context.body = parts.errorPage(error, error_description ?? '');
    },
  };

  function isOwn(client: { clientId: string }, token: object): Promise<boolean> {
    const { clientId, accountId } = token as { clientId?: string; accountId?: string };
    return parts.isOwnToken(client.clientId, { clientId, accountId });
  }
}

/**
 * Counts the token for a code or a refresh token before that counts as used: what is refused beyond the limit can be
 * sent again. Sent again after it was used, it would end the whole sign-in.
 */
const countedBeforeUse = (adapter: Adapter, countIssued: (token: Partial<Issued>) => Promise<void>): Adapter => ({
  ...adapter,
  async consume(id) {
    const used = await adapter.find(id);
    if (used) await countIssued(used);
    await adapter.consume(id);
  },
});

/** A 429 in the words of OAuth. */
const tooMany = ({ message, status }: ApiError): Error =>
  Object.assign(new errors.CustomOIDCProviderError('temporarily_unavailable', message), { status, statusCode: status });

/**
 * Hands requests over as they are at the public URL, whichever address of ours they reached: links and cookies are made
 * for that one.
 */
export function asPublic<T extends unknown[], R>(
  publicUrl: string,
  answer: (request: IncomingMessage, ...more: T) => R,
) {
  const { protocol, host } = new URL(publicUrl);
  return (request: IncomingMessage, ...more: T): R => {
    Object.assign(request.headers, { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host });
    return answer(request, ...more);
  };
}
