import { recordSpan } from '@adsweep/shared/tracing/spans.ts';
import type { ScanEvent } from './advance.ts';
import type { ScanLease, ScanRecord } from './scan.ts';

/** The spans of a scan that lie between calls of several processes: they are recorded when they end. */

/** Records how long a leased scan has waited since it was due. */
export function traceWait(scan: ScanRecord, { leased_at, node_id }: ScanLease): void {
  const attributes = { ...about(scan), 'adsweep.node.id': node_id, 'adsweep.lost_requeues': scan.lost_requeues };
  recordSpan('queue wait', scan.traceparent, { attributes, from: scan.due_at, to: later(scan.due_at, leased_at) });
}

/** Records a lease that a change of its scan has ended, that of a lost node too. */
export function traceChange({ status, lease, ...scan }: ScanRecord, event: ScanEvent, to: ScanRecord, now: Date): void {
  if (status !== 'running' || !lease || to.status === 'running') return;
  const attributes = { ...about(scan), 'adsweep.node.id': lease.node_id, 'adsweep.lease.end': event.type };
  const failure = event.type === 'failure' ? { failure: event.code } : {};
  const { leased_at: from } = lease;
  recordSpan('lease', scan.traceparent, { attributes, from, to: later(from, now), ...failure });
}

const about = ({ _id, retry_attempt }: Pick<ScanRecord, '_id' | 'retry_attempt'>) => ({
  'adsweep.scan.id': _id,
  'adsweep.attempt': retry_attempt,
});

/** The clocks of two processes may differ. */
const later = (from: Date, to: Date): Date => (to < from ? from : to);
