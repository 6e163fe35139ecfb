import { randomUUID } from 'node:crypto';

/**
 * Marks the requests that this process makes to itself for a request of a client that was counted already, so that the
 * client's rate limit counts one. `mark`: the credential that is sent; `unmark`: the one that was marked, null: it is
 * not marked. The mark is a secret of this process.
 */
export function countedRequests() {
  const prefix = `counted-${randomUUID()}-`;
  return {
    mark: (credential: string): string => prefix + credential,
    unmark: (credential: string): string | null =>
      credential.startsWith(prefix) ? credential.slice(prefix.length) : null,
  };
}

export type CountedRequests = ReturnType<typeof countedRequests>;
