import { createHash } from 'node:crypto';
import type { Permission } from '../../http/caller.ts';
import type { OutboxFields } from '../../platform/outbox/outbox-entry.ts';

/**
 * A program that gets access tokens (RFC 6749). `organization_id` null: it registered itself (RFC 7591), and acts only
 * for people who sign in and consent. The secret is never stored, only its hash.
 */
export type OAuthClientRecord = Partial<OutboxFields> & {
  /** The `client_id`. */
  _id: string;
  organization_id: string | null;
  name: string;
  secret_hash: string | null;
  permissions: Permission[];
  redirect_uris: string[];
  created_at: Date;
  /**
   * A client expires no later than the key that created it. One that registered itself expires a day later if nobody
   * has consented until then, else half a year after its last token. Null: never.
   */
  expires_at: Date | null;
  /**
   * What a client that registered itself sent, as checked by the provider; null: it was created by
   * `POST /account/oauth-clients`.
   */
  registered: Record<string, unknown> | null;
};

/** The `client_id` of the console, which comes with Adsweep. */
export const CONSOLE_CLIENT_ID = 'adsweep-console';

/** The console as a client: a public one, which acts only for people who sign in and consent. */
export function consoleClient(publicUrl: string, permissions: readonly Permission[]): OAuthClientRecord {
  const redirect_uris = [`${publicUrl}/console/sign-in/callback`];
  return {
    _id: CONSOLE_CLIENT_ID,
    organization_id: null,
    name: 'the Adsweep console',
    secret_hash: null,
    permissions: [],
    redirect_uris,
    created_at: new Date(0),
    expires_at: null,
    registered: {
      client_id: CONSOLE_CLIENT_ID,
      client_name: 'the Adsweep console',
      redirect_uris,
      scope: permissions.join(' '),
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
  };
}

/** The stored hash of a client's secret: secrets are long and random, so a slow hash is not needed. */
export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/**
 * A redirect of a native app (RFC 8252): a private-use scheme, or http to a loopback address, where any port may be
 * used.
 */
const isNative = (uri: string): boolean => !uri.startsWith('https:');

/**
 * The client as the OAuth provider knows it (RFC 7591, section 2); `client_secret` is the hash, which the provider
 * compares with.
 */
export function clientMetadata(client: OAuthClientRecord): Record<string, unknown> {
  if (client.registered)
    return { ...client.registered, ...(client.secret_hash !== null && { client_secret: client.secret_hash }) };
  const signsIn = client.redirect_uris.length > 0;
  return {
    client_id: client._id,
    client_name: client.name,
    client_secret: client.secret_hash,
    scope: client.permissions.join(' '),
    redirect_uris: client.redirect_uris,
    application_type: client.redirect_uris.some(isNative) ? 'native' : 'web',
    grant_types: ['client_credentials', ...(signsIn ? ['authorization_code', 'refresh_token'] : [])],
    response_types: signsIn ? ['code'] : [],
    token_endpoint_auth_method: 'client_secret_basic',
  };
}

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** A private-use scheme is a reversed domain name (RFC 8252, section 7.1). */
const PRIVATE_USE_SCHEME = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;

/** Why a redirect URI is refused (RFC 6749, section 3.1.2; RFC 8252); null: it is not. */
export function redirectUriProblem(uri: string): string | null {
  const url = URL.parse(uri);
  if (!url) return 'Must be an absolute URI.';
  if (uri.includes('#')) return 'Must not have a fragment.';
  if (url.username !== '' || url.password !== '') return 'Must not have credentials.';
  if (url.protocol === 'https:') return null;
  if (url.protocol === 'http:')
    return LOOPBACK.has(url.hostname) ? null : 'Must be https, except on a loopback address.';
  return PRIVATE_USE_SCHEME.test(url.protocol)
    ? null
    : 'Must be https, or a private-use scheme such as com.example.app.';
}
