import { createHash } from 'node:crypto';
import { newSecret } from '@adsweep/shared/ids.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Credential } from './sessions.ts';

export type OAuthSignInParts = {
  /** The base URL that browsers use, and where this process serves the same. */
  publicUrl: string;
  ownUrl: string;
  clientId: string;
  /** Where the browser returns to. */
  redirectUri: string;
};

/** A sign-in that was begun: what its browser keeps until it returns. */
export type BegunSignIn = { state: string; verifier: string; to: string };

type Tokens = { access_token: string; refresh_token?: string; expires_in: number };
type OAuthCredential = Extract<Credential, { kind: 'oauth' }>;

/** Tokens are replaced this long before they end. */
const EARLY_MS = 60_000;
const TIMEOUT_MS = 10_000;

/** Signs people in by OAuth 2.0: the console is a public client with PKCE (RFC 6749, 7636), as every other one. */
export function oauthSignIn({ publicUrl, ownUrl, clientId, redirectUri }: OAuthSignInParts) {
  const send = (path: string, form: Record<string, string>): Promise<Response> =>
    fetch(`${ownUrl}${path}`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, client_id: clientId }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  const tokens = async (form: Record<string, string>): Promise<OAuthCredential | null> => {
    const answer = await send('/oauth/token', form);
    // What was sent is still good.
    if (answer.status === 429)
      throw new ApiError('rate_limited', 'Your organization makes too many requests: try again in a minute.');
    if (!answer.ok) return null;
    const { access_token: accessToken, refresh_token, expires_in } = (await answer.json()) as Tokens;
    const refreshAt = Date.now() + expires_in * 1000 - EARLY_MS;
    return { kind: 'oauth', accessToken, refreshToken: refresh_token ?? null, refreshAt };
  };

  return {
    /** The address that asks for consent, and what the browser has to keep. */
    begin(to: string): { location: string; begun: BegunSignIn } {
      const begun = { state: newSecret(16), verifier: newSecret(32), to };
      const request = new URLSearchParams({
        client_id: clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        state: begun.state,
        code_challenge: createHash('sha256').update(begun.verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      return { location: `${publicUrl}/oauth/authorize?${request}`, begun };
    },

    /**
     * The tokens for a code; null if the answer is not that to this sign-in, or the person refused. Throws 429 where
     * they are refused for now.
     */
    async finish(query: URLSearchParams, begun: BegunSignIn | null): Promise<OAuthCredential | null> {
      const code = query.get('code');
      if (!begun || code === null || query.get('state') !== begun.state) return null;
      const { verifier: code_verifier } = begun;
      return tokens({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier });
    },

    /**
     * Tokens in the place of those that are about to end; null if there are none any more. Throws 429 where they are
     * refused for now.
     */
    refresh: async ({ refreshToken }: OAuthCredential): Promise<OAuthCredential | null> =>
      refreshToken === null ? null : tokens({ grant_type: 'refresh_token', refresh_token: refreshToken }),

    /** Ends the tokens of a session. */
    async revoke({ accessToken, refreshToken }: OAuthCredential): Promise<void> {
      for (const token of [refreshToken, accessToken]) if (token !== null) await send('/oauth/revoke', { token });
    },
  };
}

export type OAuthSignIn = ReturnType<typeof oauthSignIn>;
