import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../http/api-error.ts';
import { serializeByKey } from '../../platform/serialize-by-key.ts';
import type { OAuthSignIn } from './oauth-sign-in.ts';
import type { Session, Sessions } from './sessions.ts';

/** How often, and how many times, a session is read again while another process replaces its tokens. */
const READ_EVERY_MS = 50;
const READS_MAX = 100;

/**
 * Returns a session with tokens that are still good. Requests of one session replace them once, in whichever processes
 * they are. Throws 429 where they are refused for now.
 */
export type RefreshSession = (session: Session) => Promise<Session>;

export function refreshSessions(sessions: Sessions, oauth: Pick<OAuthSignIn, 'refresh'>): RefreshSession {
  const serialized = serializeByKey();

  const replaceClaimed = async (claimed: Session): Promise<Session> => {
    const { id, credential } = claimed;
    try {
      const replaced = credential.kind === 'key' || isFresh(claimed) ? credential : await oauth.refresh(credential);
      if (replaced) await sessions.keep(id, replaced);
      return replaced ? { id, credential: replaced } : claimed;
    } catch (error) {
      // The refresh token was not used: the next request may try again.
      if (error instanceof ApiError) await sessions.keep(id, credential);
      throw error;
    }
  };

  /** The session with new tokens, got here or by another process; as it is if that takes too long. */
  const replaceTokens = async (session: Session): Promise<Session> => {
    for (let left = READS_MAX; left > 0; left--) {
      const claimed = await sessions.claimReplacement(session.id, new Date());
      if (claimed) return replaceClaimed(claimed);
      const current = await sessions.find(session.id, new Date());
      if (!current || isFresh(current)) return current ?? session;
      await sleep(READ_EVERY_MS);
    }
    return session;
  };

  return async (session) => (isFresh(session) ? session : serialized(session.id, () => replaceTokens(session)));
}

const isFresh = ({ credential }: Session): boolean => credential.kind === 'key' || credential.refreshAt > Date.now();
