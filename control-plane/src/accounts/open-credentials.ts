import { hkdfSync } from 'node:crypto';
import { addressBlocks } from '@adsweep/shared/urls/address-blocks.ts';
import type { Caller, FindCaller } from '../http/caller.ts';
import type { Platform } from '../platform/platform.ts';
import { rememberBriefly } from '../platform/remember-briefly.ts';
import { type ApiKeyRecord, findCaller, isStillValid, recordUse } from './keys/api-key.ts';
import type { KeyStore } from './keys/key-store.ts';
import { oauth } from './oauth/oauth.ts';
import type { Quotas } from './organizations/organization.ts';
import { limitByAddress } from './rate-limit/limit-by-address.ts';
import { countRequestOf, limitRequests, requestCounter } from './rate-limit/limit-requests.ts';
import type { StoredPerDay } from './stored-per-day.ts';

/** How long the result of `isStillValid` is cached; open streams call it repeatedly. */
const KEY_WATCH_MS = 500;

export type CredentialParts = Pick<Platform, 'store' | 'redis' | 'logger'> & {
  keys: KeyStore;
  quotasOf: (organizationId: string) => Promise<Readonly<Quotas>>;
  stored: StoredPerDay;
  outboxFilled: () => void;
};

export type CredentialSettings = {
  publicUrl: string;
  /** Secret that signs lease tokens; the key of OAuth's cookies is derived from it. The same on all replicas. */
  leaseSecret: string;
  /** Whether everybody may register an OAuth client. */
  oauthRegistration: boolean;
  /** Address blocks of the proxies whose `X-Forwarded-For` counts. */
  trustedProxies?: string[];
};

/**
 * Finds the callers with API keys and OAuth access tokens, and counts their requests. Keys are cached for
 * `rememberedMs`.
 */
export function openCredentials(
  { store, redis, logger, keys, quotasOf, stored, outboxFilled }: CredentialParts,
  settings: CredentialSettings,
  rememberedMs: number,
) {
  const readKey = async (hash: string) => {
    const key = await keys.findByHash(hash);
    // Not awaited: if the write fails, the next use is recorded.
    if (key)
      recordUse(keys, key, new Date()).catch((cause: unknown) =>
        logger.debug({ cause }, 'could not record the last use of a key'),
      );
    return key;
  };
  const findByHash = rememberBriefly(readKey, rememberedMs);
  const findById = rememberBriefly((id) => keys.findById(id), Math.min(KEY_WATCH_MS, rememberedMs));
  const findByKey = (key: string) => findCaller({ findByHash }, key, new Date());
  const isTrusted = addressBlocks(settings.trustedProxies ?? []);
  const limits = { quotasOf, countRequest: requestCounter(redis) };
  const oauth2 = oauth(
    {
      store,
      outboxFilled,
      rememberedMs,
      findKeyById: findById,
      findCallerByKey: findByKey,
      cookieKeys: [
        Buffer.from(hkdfSync('sha256', settings.leaseSecret, '', 'adsweep oauth cookies', 32)).toString('hex'),
      ],
      countToken: async (organizationId) => {
        await countRequestOf(limits, organizationId);
        await stored.take(organizationId, 'tokens', 1);
      },
      limitByAddress: (limit, windowMs) =>
        limitByAddress({ count: requestCounter(redis, { windowMs }), isTrusted }, limit),
      failed: (cause, request_id) => logger.error({ cause, request_id }, 'an OAuth request failed'),
    },
    { publicUrl: settings.publicUrl, allowsRegistration: settings.oauthRegistration },
  );
  const findUncounted: FindCaller = async (credential) =>
    (await findByKey(credential)) ?? oauth2.findCaller(credential);

  return {
    oauth2,

    /** To be called after a key was revoked. */
    revoked({ _id, key_hash }: ApiKeyRecord): void {
      findByHash.forget(key_hash);
      findById.forget(_id);
    },

    verbs: {
      /** The caller with an API key or an OAuth access token. */
      findCaller: limitRequests({ ...limits, findCaller: findUncounted }),
      /** The same, without counting the request: it is a part of one that was. */
      findUncounted,
      /**
       * Whether the caller's key or token is still valid; a revocation by another process takes effect within a second.
       */
      isStillValid: (caller: Caller) =>
        caller.token ? oauth2.isStillValid(caller.token.id) : isStillValid({ findById }, caller, new Date()),
      /** What is served of OAuth 2.0. */
      oauthSurface: oauth2.surface,
    },
  };
}
