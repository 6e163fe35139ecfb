import type { ScanStore } from './scan-store.ts';

export type { EndedScan } from './scan-store.ts';

/** What the farm's own work asks of the scans, whoever owns them. Never for a client's request. */
export type FarmScans = Pick<
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
