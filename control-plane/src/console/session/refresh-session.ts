import { setTimeout as sleep } from 'node:timers/promises';
import { serializeByKey } from '../../platform/serialize-by-key.ts';
import type { OAuthSignIn } from './oauth-sign-in.ts';
import type { Session, Sessions } from './sessions.ts';

/** How often, and how many times, a session is read again while another process replaces its tokens. */
const READ_EVERY_MS = 50;
const READS_MAX = 100;

/** Returns a session with tokens that are still good. Requests of one session replace them once, in whichever processes they are. */
export type RefreshSession = (session: Session) => Promise<Session>;

export function refreshSessions(sessions: Sessions, oauth: Pick<OAuthSignIn, 'refresh'>): RefreshSession {
  const serialized = serializeByKey();

  /** The session with the tokens that another process gets for it; as it is if that takes too long. */
  const replacedElsewhere = async (session: Session): Promise<Session> => {
    for (let left = READS_MAX; left > 0; left--) {
      const current = await sessions.find(session.id, new Date());
      if (!current || isFresh(current)) return current ?? session;
      await sleep(READ_EVERY_MS);
    }
    return session;
  };

  const replaceTokens = async (session: Session): Promise<Session> => {
    const claimed = await sessions.claimReplacement(session.id, new Date());
    if (!claimed) return replacedElsewhere(session);
    const { id, credential } = claimed;
    const replaced = credential.kind === 'key' || isFresh(claimed) ? credential : await oauth.refresh(credential);
    if (replaced) await sessions.keep(id, replaced);
    return replaced ? { id, credential: replaced } : claimed;
  };

  return async (session) => (isFresh(session) ? session : serialized(session.id, () => replaceTokens(session)));
}

const isFresh = ({ credential }: Session): boolean => credential.kind === 'key' || credential.refreshAt > Date.now();
