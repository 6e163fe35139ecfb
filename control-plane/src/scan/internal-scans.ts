import type { ScanStore } from './scan-store.ts';

export type { EndedScan } from './ended-scan-store.ts';

/** What crawling, checks and retention ask of the scans, whichever organization owns them. Never for a client's request. */
export type InternalScans = Pick<
  ScanStore,
  | 'find'
  | 'findMember'
  | 'withTarget'
  | 'membersOf'
  | 'insertUnlessThere'
  | 'apply'
  | 'pageInStatus'
  | 'countJobsInStatus'
  | 'awaitingChecks'
  | 'outbox'
  | 'endedUntil'
  | 'endedWithEvidence'
  | 'forgetEvidence'
  | 'remove'
  | 'endsOf'
  | 'texts'
>;
