import { DAY_MS, HOUR_MS } from '@adsweep/shared/durations.ts';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { type Caller, PERMISSIONS } from '../../http/caller.ts';
import type { OAuthSurface } from '../../http/serve-oauth.ts';
import { rememberBriefly } from '../../platform/remember-briefly.ts';
import type { Store } from '../../platform/store.ts';
import { type ApiKeyRecord, isExpired } from '../keys/api-key.ts';
import type { AddressLimit, LimitByAddress } from '../rate-limit/limit-by-address.ts';
import {
  CONSOLE_CLIENT_ID,
  clientMetadata,
  consoleClient,
  hashSecret,
  type OAuthClientRecord,
  redirectUriProblem,
} from './oauth-client.ts';
import { oauthClientRoutes } from './oauth-client-routes.ts';
import { type OAuthClientStore, oauthClientStore } from './oauth-client-store.ts';
import { OAUTH_PATHS } from './oauth-paths.ts';
import { asPublic, oauthProvider } from './oauth-provider.ts';
import { oauthRecordStore } from './oauth-record-store.ts';
import { signIn } from './sign-in.ts';
import { signInPages } from './sign-in-pages.ts';
import { callerOf, ownerOf } from './token-caller.ts';

export type OAuthSettings = {
  /** The base URL that clients use. */
  publicUrl: string;
  /** Whether everybody may register a client (RFC 7591). */
  allowsRegistration: boolean;
};

/** Requests in a minute that begin a sign-in or send one of its forms; a sign-in has three. */
const SIGN_IN_LIMIT = {
  name: 'sign-in',
  perAddress: 60,
  inAll: 900,
  detail: 'Too many sign-ins from your address, or in all. Try again in a minute.',
};

/**
 * Registrations in an hour. In all they are so few that those that nobody uses have a day before others take their
 * places.
 */
const REGISTRATION_LIMIT = {
  name: 'registration',
  perAddress: 20,
  inAll: 400,
  detail: 'Too many clients were registered. Try again later.',
};

export type OAuthNeeds = {
  store: Store;
  /** Keys that sign cookies, the newest first; the same in all processes. */
  cookieKeys: string[];
  /** An API key by its id, unless it is revoked. */
  findKeyById: (id: string) => Promise<ApiKeyRecord | null>;
  /** The caller with an API key; null if it is not valid. */
  findCallerByKey: (key: string) => Promise<Pick<Caller, 'keyId'> | null>;
  /** Counts a token that is issued to an organization; throws 429 beyond its limits. */
  countToken: (organizationId: string) => Promise<void>;
  /** What strangers do is limited by their addresses; `windowMs` is the length of a window. */
  limitByAddress: (limit: AddressLimit, windowMs?: number) => LimitByAddress;
  outboxFilled: () => void;
  /** Called with the cause of an error that is answered 500, and the id of its request. */
  failed: (cause: unknown, requestId: string) => void;
  /** How long a client is cached, in milliseconds. */
  rememberedMs: number;
};

/**
 * OAuth 2.0: clients, the authorization server that gives them tokens, and the callers with these tokens (spec 5.6).
 */
export function oauth(needs: OAuthNeeds, { publicUrl, allowsRegistration }: OAuthSettings) {
  const { store, cookieKeys, findKeyById, findCallerByKey, countToken, limitByAddress } = needs;
  const { outboxFilled, failed, rememberedMs } = needs;
  const [clients, records] = [oauthClientStore(store), oauthRecordStore(store)];
  const ofConsole = consoleClient(publicUrl, PERMISSIONS);
  const findClient = rememberBriefly(
    async (id) => (id === CONSOLE_CLIENT_ID ? ofConsole : clients.findById(id, new Date())),
    rememberedMs,
  );
  const findKey = async (id: string): Promise<ApiKeyRecord | null> => {
    const key = await findKeyById(id);
    return key && !isExpired(key, new Date()) ? key : null;
  };
  const owners = { findClient, findKey };
  const below = (path: string): string => new URL(publicUrl).pathname.replace(/\/+$/, '') + path;
  const pages = signInPages({ stylesheet: below('/oauth/page.css'), icon: below('/oauth/icon.svg') });

  /** A client that registered itself is kept as long as it is used. */
  const used = async (client: OAuthClientRecord): Promise<void> => {
    if (client.registered === null || client._id === CONSOLE_CLIENT_ID) return;
    if (await clients.keepRegistered(client, new Date())) findClient.forget(client._id);
  };

  const provider = oauthProvider({
    publicUrl,
    cookieKeys,
    allowsRegistration,
    failed,
    errorPage: pages.problem,
    signInPath: below(OAUTH_PATHS.signIn),
    adapterOf: (model) => (model === 'Client' ? clientAdapter(clients, findClient) : records.adapterOf(model)),
    isValidKey: async (keyId, clientId) => (await ownerOf(owners, { clientId, keyId })) !== null,
    isOwnToken: async (clientId, { clientId: issuedTo, accountId }) => {
      const [client, owner] = await Promise.all([
        findClient(clientId),
        ownerOf(owners, { clientId: issuedTo ?? '', keyId: accountId ?? null }),
      ]);
      if (!client || !owner) return false;
      // A client that registered itself is of no organization: it may ask about its own tokens.
      return client.organization_id === null ? issuedTo === clientId : owner.organizationId === client.organization_id;
    },
    countIssued: async ({ clientId, accountId }) => {
      const owner = await ownerOf(owners, { clientId, keyId: accountId ?? null });
      if (owner) await countToken(owner.organizationId);
      const client = await findClient(clientId);
      if (client) await used(client);
    },
  });

  const people = signIn({ ...owners, provider, pages, used, findCaller: findCallerByKey });

  const signInPath = `${OAUTH_PATHS.signIn}/{id}`;
  const signInLimit = limitByAddress(SIGN_IN_LIMIT);

  const surface: OAuthSurface = {
    answer: asPublic(publicUrl, provider.callback()),
    endpoints: {
      [OAUTH_PATHS.metadata]: ['GET'],
      [OAUTH_PATHS.authorization]: ['GET'],
      [`${OAUTH_PATHS.authorization}/{id}`]: ['GET'],
      [OAUTH_PATHS.token]: ['POST'],
      [OAUTH_PATHS.revocation]: ['POST'],
      [OAUTH_PATHS.introspection]: ['POST'],
      ...(allowsRegistration && { [OAUTH_PATHS.registration]: ['POST'] }),
    },
    limits: {
      [OAUTH_PATHS.authorization]: { count: signInLimit, isForPeople: true },
      // To look at a page again changes nothing.
      [signInPath]: {
        count: async (request) => (request.method === 'POST' ? signInLimit(request) : undefined),
        isForPeople: true,
      },
      [OAUTH_PATHS.registration]: { count: limitByAddress(REGISTRATION_LIMIT, HOUR_MS), isForPeople: false },
    },
    signInPath,
    signIn: { show: asPublic(publicUrl, people.show), submit: asPublic(publicUrl, people.submit) },
    endSession: people.end,
    problemPage: pages.problem,
    resourceMetadataPath: OAUTH_PATHS.resourceMetadata,
    resourceMetadataUrl: publicUrl + OAUTH_PATHS.resourceMetadata,
    resourceMetadata: {
      resource: publicUrl,
      authorization_servers: [publicUrl],
      scopes_supported: PERMISSIONS,
      bearer_methods_supported: ['header'],
      resource_name: 'Adsweep API',
      resource_documentation: `${publicUrl}/docs`,
    },
  };

  const deleted = async ({ _id }: OAuthClientRecord): Promise<void> => {
    findClient.forget(_id);
    await records.removeOfClient(_id);
  };

  return {
    stores: { oauthClients: clients, oauthRecords: records },
    routes: oauthClientRoutes({ clients, deleted, outboxFilled }),
    surface,

    /** The caller with an access token; null if the token, its client or its key is not valid any more. */
    async findCaller(token: string): Promise<Caller | null> {
      const found = await records.findAccessToken(token, new Date());
      return found && callerOf(owners, found);
    },

    /** Whether the token of a caller is still accepted. */
    async isStillValid(tokenId: string): Promise<boolean> {
      const found = await records.findAccessTokenById(tokenId, new Date());
      return found !== null && (await ownerOf(owners, found)) !== null;
    },
  };
}

/** The provider's adapter for its clients: it reads those of organizations and adds those that register themselves. */
function clientAdapter(
  clients: Pick<OAuthClientStore, 'insertRegistered'>,
  findClient: (id: string) => Promise<OAuthClientRecord | null>,
): Adapter {
  const unused = async (): Promise<never> => {
    throw new Error('a client is only found and added');
  };
  return {
    upsert: async (id, metadata) => clients.insertRegistered(registeredClient(id, metadata)),
    async find(id) {
      const client = await findClient(id);
      return client ? (clientMetadata(client) as AdapterPayload) : undefined;
    },
    findByUid: unused,
    findByUserCode: unused,
    consume: unused,
    destroy: unused,
    revokeByGrantId: unused,
  };
}

const NAME_MAX = 200;
/** The most characters of the metadata of a client that registers itself, as JSON. */
const METADATA_MAX = 8_192;
/** How long a client that registered itself is kept until somebody consents to it. */
const UNUSED_MS = DAY_MS;

function registeredClient(id: string, { client_secret, ...metadata }: AdapterPayload): OAuthClientRecord {
  if ((metadata.grant_types as string[]).includes('client_credentials'))
    throw new errors.InvalidClientMetadata(
      'clients that register themselves act only for people: no client_credentials',
    );
  const redirectUris = (metadata.redirect_uris as string[] | undefined) ?? [];
  const problem = redirectUris.map(redirectUriProblem).find((one) => one !== null);
  // The provider reads from the first word which error it is.
  if (problem) throw new errors.InvalidClientMetadata(`redirect_uris: ${problem}`);
  if (JSON.stringify(metadata).length > METADATA_MAX)
    throw new errors.InvalidClientMetadata(`the metadata may have at most ${METADATA_MAX} characters`);
  return {
    _id: id,
    organization_id: null,
    permissions: [],
    created_at: new Date(),
    expires_at: new Date(Date.now() + UNUSED_MS),
    name: String(metadata.client_name ?? 'A program without a name').slice(0, NAME_MAX),
    secret_hash: typeof client_secret === 'string' ? hashSecret(client_secret) : null,
    redirect_uris: redirectUris,
    registered: metadata,
  };
}
