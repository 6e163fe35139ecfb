import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import { PUBLIC_URL } from './open-plane.ts';
import type { Json, RunningApi } from './running-api.ts';

/** Where the client of the tests returns to. */
export const CALLBACK = 'https://app.example/callback';

/** A page that a browser shows, or the address that it was sent to away from us. */
export type Shown = { status: number; url: string; html: string; headers: Headers };

let browsers = 0;

/**
 * A browser without scripts, with cookies, at an address of its own where the API trusts proxies: it follows redirects
 * on our host and stops at any other. The public URL of the tests is mapped to the port of the API.
 */
export function openBrowser({ port }: Pick<RunningApi, 'port'>, address = `198.51.100.${++browsers}`) {
  const cookies = new Map<string, { value: string; path: string }>();
  const visit = async (
    url: string,
    form?: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Shown> => {
    const target = new URL(url, PUBLIC_URL);
    if (target.origin !== PUBLIC_URL) return { status: 0, url: target.href, html: '', headers: new Headers() };
    const sent = [...cookies].filter(([, { path }]) => target.pathname.startsWith(path));
    const answer = await fetch(`http://127.0.0.1:${port}${target.pathname}${target.search}`, {
      redirect: 'manual',
      headers: {
        ...{ 'X-Forwarded-For': address, ...headers },
        cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; '),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const one of answer.headers.getSetCookie()) keep(one);
    const location = answer.headers.get('location');
    if (location) return visit(new URL(location, target).href);
    return { status: answer.status, url: target.href, html: await answer.text(), headers: answer.headers };
  };
  const keep = (setCookie: string): void => {
    const [pair = '', ...attributes] = setCookie.split('; ');
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const path = attributes.find((one) => one.startsWith('path='))?.slice('path='.length) ?? '/';
    if (value === '') cookies.delete(name);
    else cookies.set(name, { value, path });
  };
  return { visit, cookies };
}

/** Fetches for `oauth4webapi` from the port of the API. */
const reach = ({ port }: Pick<RunningApi, 'port'>) => ({
  [oauth.customFetch]: (url: string, options: object) =>
    fetch(url.replace(PUBLIC_URL, `http://127.0.0.1:${port}`), options as RequestInit),
});

/** An OAuth client of our organization, made by the API, and what it does by the standard client. */
export async function oauthClient(api: RunningApi, body: object, key?: string) {
  const { body: made } = await api.post(
    '/api/v1/account/oauth-clients',
    { name: 'Nightly checks', permissions: ['scans.read'], ...body },
    key ? { key } : {},
  );
  const issuer = new URL(PUBLIC_URL);
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...reach(api) });
  const server = await oauth.processDiscoveryResponse(issuer, found);
  const client: oauth.Client = { client_id: made.client_id };
  const secret = oauth.ClientSecretBasic(made.client_secret);
  return standardClient(api, { server, client, authentication: secret, made });
}

type Standard = {
  server: oauth.AuthorizationServer;
  client: oauth.Client;
  authentication: oauth.ClientAuth;
  made: Json;
};

/** A client as `oauth4webapi` makes one. Rejects with its `ResponseBodyError` where the server refuses. */
export function standardClient(api: RunningApi, { server, client, authentication, made }: Standard) {
  const options = reach(api);

  return {
    ...{ server, client, authentication, made },

    async clientCredentials(scope?: string) {
      const answer = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        authentication,
        new URLSearchParams(scope === undefined ? {} : { scope }),
        options,
      );
      return oauth.processClientCredentialsResponse(server, client, answer);
    },

    /** The address that begins a sign-in, and what finishes it with the address that the browser returns to. */
    async authorization(more: Record<string, string> = {}) {
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const url = new URL(server.authorization_endpoint!);
      const challenge = {
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      const parameters = {
        client_id: client.client_id,
        response_type: 'code',
        redirect_uri: CALLBACK,
        state,
        ...challenge,
        ...more,
      };
      for (const [name, value] of Object.entries(parameters)) if (value !== '') url.searchParams.set(name, value);
      const exchange = async (returned: string, { redirectUri = CALLBACK, by = verifier } = {}) => {
        const parameters = oauth.validateAuthResponse(server, client, new URL(returned), state);
        const answer = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          parameters,
          redirectUri,
          by,
          options,
        );
        return oauth.processAuthorizationCodeResponse(server, client, answer);
      };
      return { url: url.href, exchange };
    },

    async refresh(token: string) {
      const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, token, options);
      return oauth.processRefreshTokenResponse(server, client, answer);
    },

    async introspect(token: string) {
      const answer = await oauth.introspectionRequest(server, client, authentication, token, options);
      return oauth.processIntrospectionResponse(server, client, answer);
    },

    async revoke(token: string) {
      await oauth.processRevocationResponse(
        await oauth.revocationRequest(server, client, authentication, token, options),
      );
    },
  };
}

/** Signs in with a key and consents; the address that the browser returns to. */
export async function signInWith(browser: ReturnType<typeof openBrowser>, url: string, key: string): Promise<string> {
  const asked = await browser.visit(url);
  const signedIn = await browser.visit(asked.url, { action: 'sign-in', key });
  const returned = signedIn.url.startsWith(PUBLIC_URL)
    ? await browser.visit(signedIn.url, { action: 'allow' })
    : signedIn;
  return returned.url;
}

/**
 * For `assert.rejects`: an authorization server's error of this code (RFC 6749, section 5.2), or one that was caused by
 * it.
 */
export const refusedAs = (code: string) => (error: { error?: string; cause?: { error?: string } }) => {
  assert.equal(error.error ?? error.cause?.error, code);
  return true;
};
