import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { HOUR_MS } from '@adsweep/shared/durations.ts';
import { newSecret } from '@adsweep/shared/ids.ts';
import { seal, unseal } from '../../platform/seal.ts';
import type { SessionRecord, SessionStore } from './session-store.ts';

const LIFETIME_MS = 12 * HOUR_MS;
const ID_BYTES = 32;
/** Longer than it takes to get new tokens. */
const REPLACED_WITHIN_MS = 15_000;
const ID = /^[A-Za-z0-9_-]{43}$/;

/** What a person signed in with: an API key, or the tokens of an OAuth sign-in. */
export type Credential =
  | { kind: 'key'; key: string }
  | { kind: 'oauth'; accessToken: string; refreshToken: string | null; refreshAt: number };

/** A session of a browser: its id is known to that browser alone. */
export type Session = { id: string; credential: Credential };

/** The API key or access token of a session, as the API takes it. */
export const bearerOf = ({ credential }: Session): string =>
  credential.kind === 'key' ? credential.key : credential.accessToken;

/**
 * The sessions of the console. A record holds the credential encrypted with a key derived from the session's id, of
 * which it has only a hash: a copy of the records is worth nothing. The id is new at each sign-in, and a session that
 * was ended is gone in every process.
 */
export function openSessions(store: SessionStore) {
  const read = (id: string, { sealed: text }: Pick<SessionRecord, 'sealed'>): Session => ({
    id,
    credential: JSON.parse(unseal(keyOf(id), text)) as Credential,
  });
  return {
    async begin(credential: Credential, now: Date): Promise<Session> {
      const id = newSecret(ID_BYTES);
      const expires_at = new Date(now.getTime() + LIFETIME_MS);
      await store.insert({ _id: hashOf(id), sealed: sealed(id, credential), created_at: now, expires_at });
      return { id, credential };
    },

    async find(id: string, now: Date): Promise<Session | null> {
      const record = ID.test(id) ? await store.find(hashOf(id), now) : null;
      return record && read(id, record);
    },

    /**
     * The session as it is now, for the one process that may replace its tokens: a refresh token that is used twice
     * ends all tokens. Null: another process is at it.
     */
    async claimReplacement(id: string, now: Date): Promise<Session | null> {
      const until = new Date(now.getTime() + REPLACED_WITHIN_MS);
      const record = await store.claimReplacement(hashOf(id), now, until);
      return record && read(id, record);
    },

    /** Keeps the tokens that the session has now; then it may be claimed again. */
    keep: (id: string, credential: Credential) => store.replace(hashOf(id), sealed(id, credential)),

    end: (id: string) => store.remove(hashOf(id)),
  };
}

export type Sessions = ReturnType<typeof openSessions>;

/** How long a browser keeps the cookie of a session, in seconds. */
export const SESSION_SECONDS = LIFETIME_MS / 1000;

const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex');
const keyOf = (id: string): Uint8Array => new Uint8Array(hkdfSync('sha256', id, '', 'adsweep console session', 32));
const sealed = (id: string, credential: Credential): string => seal(keyOf(id), JSON.stringify(credential));

/**
 * The token of a form, which another site can neither read nor guess. It is different on each page, so that the length
 * of a compressed page reveals nothing of it.
 */
export function formToken(sessionId: string): string {
  const nonce = randomBytes(16).toString('base64url');
  return `${nonce}.${proofOf(sessionId, nonce)}`;
}

/** Whether a form carries a token of this session. */
export function isOwnForm(sessionId: string, token: string): boolean {
  const [nonce = '', proof = ''] = token.split('.', 2);
  const [expected, sent] = [Buffer.from(proofOf(sessionId, nonce)), Buffer.from(proof)];
  return expected.length === sent.length && timingSafeEqual(expected, sent);
}

const proofOf = (sessionId: string, nonce: string): string =>
  createHmac('sha256', sessionId).update(`form ${nonce}`).digest('base64url');
