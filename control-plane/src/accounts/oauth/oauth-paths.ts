/** The paths of OAuth 2.0 below the public URL. */
export const OAUTH_PATHS = {
  metadata: '/.well-known/oauth-authorization-server',
  resourceMetadata: '/.well-known/oauth-protected-resource',
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  registration: '/oauth/register',
  /** The pages on which people sign in and consent, each below it by the id of its request. */
  signIn: '/oauth/sign-in',
} as const;
