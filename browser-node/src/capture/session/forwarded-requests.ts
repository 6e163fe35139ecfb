import { type Entry, lastOf } from './journal-entry.ts';
import { withoutFragment } from './urls.ts';

/** Requests that were answered by others, and those others: only these were sent. */
const ANSWERED: readonly { isAnswered(entry: Entry): boolean; isAnswer(entry: Entry): boolean }[] = [
  {
    isAnswered: ({ isFromServiceWorker }) => isFromServiceWorker,
    isAnswer: ({ isOfServiceWorker }) => isOfServiceWorker,
  },
  { isAnswered: (entry) => lastOf(entry).isFromPrefetch, isAnswer: ({ resourceType }) => resourceType === 'prefetch' },
];

/**
 * Leaves out what service workers requested for the documents that they answered, and prefetches of documents that were
 * shown then: the document's request is in the record, and only one was sent. Pure.
 */
export function withoutForwarded(entries: Entry[]): Entry[] {
  const keyOf = ({ method, url }: Entry) => `${method} ${withoutFragment(url)}`;
  return ANSWERED.reduce((kept, { isAnswered, isAnswer }) => {
    const answered = new Map<string, number>();
    for (const entry of kept) if (isAnswered(entry)) answered.set(keyOf(entry), (answered.get(keyOf(entry)) ?? 0) + 1);
    if (answered.size === 0) return kept;
    return kept.filter((entry) => {
      const left = isAnswer(entry) ? (answered.get(keyOf(entry)) ?? 0) : 0;
      if (left > 0) answered.set(keyOf(entry), left - 1);
      return left === 0;
    });
  }, entries);
}
