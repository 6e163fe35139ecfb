import { FAILURE_CODES } from '@adsweep/shared/failures.ts';
import { NODE_RESOURCES } from '@adsweep/shared/lease/messages.ts';
import { measureCertificates } from '@adsweep/shared/service/certificates-in-use.ts';
import { createRegistry } from '@adsweep/shared/service/metrics.ts';
import { EXIT_REFUSALS } from '@adsweep/shared/targeting/exit-ticket.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { LAUNCH_REASONS } from './browser/recycle-policy.ts';

/** How a lease ended: the outcome that was reported, or why none was. */
const LEASE_ENDS = ['completed', 'failed', 'lost', 'cancelled', 'released', 'unreported'] as const;
export type LeaseEnd = (typeof LEASE_ENDS)[number];

/** The proxy-router's response to a request for an exit. */
const EXIT_ANSWERS = ['granted', ...EXIT_REFUSALS, 'unreachable'] as const;

export type NodeMetrics = ReturnType<typeof createMetrics>;

/** Every metric of a browser node. Labels are closed sets. */
export function createMetrics(registry: Registry = createRegistry('browser-node')) {
  const registers = [registry];
  measureCertificates(registry);
  const metrics = {
    registry,
    slots: new Gauge({ name: 'adsweep_node_slots', help: 'Captures this node can do at the same time.', registers }),
    busySlots: new Gauge({ name: 'adsweep_node_busy_slots', help: 'Captures this node is doing.', registers }),
    leases: new Counter({
      name: 'adsweep_node_leases_total',
      help: 'Leases by how they ended.',
      labelNames: ['end'] as const,
      registers,
    }),
    failures: new Counter({
      name: 'adsweep_node_failures_total',
      help: 'Failed attempts by failure code.',
      labelNames: ['code'] as const,
      registers,
    }),
    lateResults: new Counter({
      name: 'adsweep_node_late_results_total',
      help: 'Results the control plane no longer wanted because the lease was lost.',
      registers,
    }),
    captureSeconds: new Histogram({
      name: 'adsweep_node_capture_seconds',
      help: 'Time of one attempt, from its exit to the end of its capture.',
      buckets: [1, 2.5, 5, 10, 15, 20, 30, 45, 60, 90, 120],
      registers,
    }),
    uploadSeconds: new Histogram({
      name: 'adsweep_node_upload_seconds',
      help: 'Time from the end of a capture until the control plane has taken it.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    uploadedBytes: new Counter({
      name: 'adsweep_node_uploaded_bytes_total',
      help: 'Bytes of artifacts uploaded.',
      registers,
    }),
    exits: new Counter({
      name: 'adsweep_node_exit_requests_total',
      help: 'Requests for an exit by what the proxy-router answered.',
      labelNames: ['answer'] as const,
      registers,
    }),
    browserLaunches: new Counter({
      name: 'adsweep_node_browser_launches_total',
      help: 'Browsers started, by why: the first one, a limit that the one before reached, or a capture that must be alone.',
      labelNames: ['reason'] as const,
      registers,
    }),
    usedShare: new Gauge({
      name: 'adsweep_node_used_ratio',
      help: 'Share of what the node may use, by its control group or its machine, that is in use; CPU over ten seconds.',
      labelNames: ['resource'] as const,
      registers,
    }),
    overloaded: new Gauge({
      name: 'adsweep_node_overloaded',
      help: '1 while the node takes no more work because too much of the resource is in use, else 0.',
      labelNames: ['resource'] as const,
      registers,
    }),
    controlPlaneReachable: new Gauge({
      name: 'adsweep_node_control_plane_reachable',
      help: '1 when the last heartbeat was answered, else 0.',
      registers,
    }),
  };
  // A series that appears with its first event hides that event from rate().
  for (const end of LEASE_ENDS) metrics.leases.inc({ end }, 0);
  for (const code of FAILURE_CODES) metrics.failures.inc({ code }, 0);
  for (const answer of EXIT_ANSWERS) metrics.exits.inc({ answer }, 0);
  for (const resource of NODE_RESOURCES) metrics.overloaded.set({ resource }, 0);
  for (const reason of LAUNCH_REASONS) metrics.browserLaunches.inc({ reason }, 0);
  return metrics;
}
