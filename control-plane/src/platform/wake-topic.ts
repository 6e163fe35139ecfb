/** What there can be to do: crawl jobs to lease, scans to check, outbox entries to carry out. */
export const WAKE_TOPICS = ['jobs', 'checks', 'outbox'] as const;
export type WakeTopic = (typeof WAKE_TOPICS)[number];
