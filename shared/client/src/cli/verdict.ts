import type { Schemas } from '../client.ts';

/** What became of a scan. */
export type Outcome = { scan: Schemas['Scan']; tags: Schemas['ScanTag'][] };

export type Verdict = 'clean' | 'findings' | 'failed';

/** The exit codes by verdict. A problem of the call is 2, every other one 1. */
export const EXIT_CODES: Record<Verdict, number> = { clean: 0, findings: 3, failed: 4 };

const SEVERITIES = ['low', 'medium', 'high'] as const;
export const FAIL_ON = [...SEVERITIES, 'never'] as const;
export type FailOn = (typeof FAIL_ON)[number];

/** Whether a finding of this severity counts. */
export const counts = (severity: Schemas['ScanTag']['severity'], failOn: FailOn): boolean =>
  failOn !== 'never' && SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(failOn);

/** Findings at or above `failOn`; without any, `failed` if a scan did not complete or was judged in part. Pure. */
export function verdictOf(outcomes: Outcome[], failOn: FailOn): Verdict {
  if (outcomes.some(({ tags }) => tags.some(({ severity }) => counts(severity, failOn)))) return 'findings';
  return outcomes.every(({ scan }) => scan.status === 'completed') ? 'clean' : 'failed';
}
