import { FAILURE_CODES } from '@adsweep/shared/failures.ts';
import { measureCertificates } from '@adsweep/shared/service/certificates-in-use.ts';
import { createRegistry } from '@adsweep/shared/service/metrics.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { findMissing, type ReadyCheck } from './http/probes.ts';
import type { AnsweredRequest } from './http/request-lifecycle.ts';
import type { DiskSpace } from './platform/disk-space.ts';

/** The process's registry, and what measures requests; labels come from closed sets. */
export type Metrics = ReturnType<typeof createMetrics>;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Creates the process's registry with the metrics of requests. */
export function createMetrics() {
  const registry: Registry = createRegistry('control-plane');
  measureCertificates(registry);
  const registers = [registry];
  const requests = new Histogram({
    name: 'adsweep_http_request_duration_seconds',
    help: 'Time from the arrival of a request to its answer, by route as written in the API.',
    labelNames: ['surface', 'method', 'route', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
    registers,
  });
  return {
    registry,
    /** Records answers of one surface: `api` or `node_api`. */
    seen:
      (surface: 'api' | 'node_api') =>
      ({ method, route, status, seconds }: AnsweredRequest): void => {
        const known = METHODS.has(method) ? method : 'other';
        requests.observe({ surface, method: known, route: route || 'unknown', status }, seconds);
      },
  };
}

/** `disk`: where files are stored, null: this process stores none. */
export type ProcessMeasures = { roles: Iterable<string>; checks: ReadyCheck[]; disk: DiskSpace | null };

/** Reports at each scrape what this process does, and whether it can do it now. */
export function measureProcess(registry: Registry, { roles, checks, disk }: ProcessMeasures): void {
  const registers = [registry];
  const runs = new Gauge({
    name: 'adsweep_roles',
    help: 'Roles of this process: 1 for each.',
    labelNames: ['role'],
    registers,
  });
  for (const role of roles) runs.set({ role }, 1);
  new Gauge({
    name: 'adsweep_ready',
    help: 'What `/readyz` of this process checks: 1, or 0 for what is missing.',
    labelNames: ['check'],
    registers,
    async collect() {
      const missing = await findMissing(checks);
      for (const [check] of checks) this.set({ check }, missing.includes(check) ? 0 : 1);
    },
  });
  new Gauge({
    name: 'adsweep_disk_free_above_floor_bytes',
    help: 'Free space above `ADSWEEP_DISK_FLOOR_MB` of the disk that files are stored on, in processes that store them; below 0 nothing is taken.',
    // Without the label a process that stores no files would report 0.
    labelNames: ['disk'],
    registers,
    async collect() {
      this.reset();
      const free = disk && (await withDeadline(disk.freeAboveFloor(), DISK_DEADLINE_MS, 'disk').catch(() => null));
      if (free !== null) this.set({ disk: 'files' }, free);
    },
  });
}

const DISK_DEADLINE_MS = 1_000;

/**
 * The metrics of the work on scans: submissions, leases, attempts, the queue, the analysis. Labels are closed sets; a
 * scrape reads no store.
 */
export type WorkMetrics = ReturnType<typeof workMetrics>;

/** The names of the priority classes in metrics, highest first. */
export const CLASS_NAMES = ['interactive', 'bulk', 'campaign'] as const;

const SEVERITIES = ['high', 'medium', 'low'] as const;
const LEASE_OUTCOMES = ['granted', 'completed', 'failed', 'released', 'lost'] as const;
const LATE_CALLS = ['alone', 'loaded', 'members', 'upload', 'complete', 'fail', 'release'] as const;
const WEBHOOK_OUTCOMES = ['delivered', 'failed', 'expired', 'dropped'] as const;
const REMOVED = ['scan', 'evidence', 'unreferenced'] as const;
const MODEL_CALLS = [
  'answered',
  'refused',
  'remembered',
  'cut_off',
  'unusable',
  'timeout',
  'rate_limited',
  'error',
] as const;
const TOKENS = ['input', 'output'] as const;
const FINAL_STATES = ['completed', 'partial', 'failed'] as const;
const FIRINGS = ['started', 'overlap', 'refused', 'paused'] as const;

/** Calls that can come after their lease was lost. */
export type LateCall = (typeof LATE_CALLS)[number];

/** The metrics of the work on scans, in `registry`. */
export function workMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers });

  const metrics = {
    submitted: counter('adsweep_scans_submitted_total', 'Scans that were accepted and charged.', []),
    catalogueRead: gauge(
      'adsweep_catalogue_read_timestamp_seconds',
      "Unix time at which the proxy-router's catalogue was last read; 0: not yet.",
      [],
    ),
    leases: counter('adsweep_leases_total', 'Leases given, and how they ended.', ['outcome']),
    failedAttempts: counter('adsweep_failed_attempts_total', 'Attempts that failed, by failure code.', ['code']),
    lateResults: counter('adsweep_late_results_total', 'Calls of nodes that had lost their lease: refused.', ['call']),
    addedMembers: counter('adsweep_added_members_total', 'Scans that nodes found: accepted and charged.', []),
    uploadedBytes: counter('adsweep_uploaded_artifact_bytes_total', 'Bytes of artifacts that nodes uploaded.', []),
    finishedScans: counter(
      'adsweep_finished_scans_total',
      'Scans that were brought to an end by a capture or a failure, by their priority class.',
      ['status', 'class'],
    ),
    stageSeconds: new Histogram({
      name: 'adsweep_scan_stage_seconds',
      help: 'Time that a stage of a scan took, by what is scanned: waiting until its last attempt began, crawl until its capture was taken, analysis until its end.',
      labelNames: ['stage', 'kind'],
      buckets: [0.1, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 900, 3_600],
      registers,
    }),
    findings: counter('adsweep_findings_total', 'Tags that the analysis assigned to scans, by their severity.', [
      'severity',
    ]),
    booked: counter(
      'adsweep_booked_micros_total',
      'Amounts of charges and of refunds that were booked, in millionths of the currency; what a crash has repeated is counted again.',
      ['entry'],
    ),
    firings: counter(
      'adsweep_schedule_firings_total',
      'Firings of schedules by their outcome; `refused`: the organization may not make the checks.',
      ['outcome'],
    ),
    lateness: new Histogram({
      name: 'adsweep_schedule_lateness_seconds',
      help: 'Time from the moment of a schedule to its firing.',
      buckets: [0.5, 1, 2, 5, 15, 60, 300, 3_600],
      registers,
    }),
    outboxEntries: counter('adsweep_outbox_entries_total', 'Outbox entries carried out.', ['kind']),
    outboxFailures: counter('adsweep_outbox_failures_total', 'Tries of outbox entries that failed.', ['kind']),
    outboxRecords: gauge('adsweep_outbox_records', 'Records with entries in their outbox, counted up to 10,000.', [
      'source',
    ]),
    outboxAge: gauge('adsweep_outbox_oldest_seconds', 'Age of the oldest entry in an outbox; 0: all are empty.', [
      'source',
    ]),
    alertMessages: counter(
      'adsweep_alert_messages_total',
      'Tries of messages about alerts; `expired`: given up after a day, without a further try.',
      ['channel', 'outcome'],
    ),
    webhookDeliveries: counter(
      'adsweep_webhook_deliveries_total',
      'Tries of deliveries to webhook endpoints; `expired`: not taken within a day, `dropped`: not wanted any more, both without a further try.',
      ['outcome'],
    ),
    webhookLateness: new Histogram({
      name: 'adsweep_webhook_lateness_seconds',
      help: 'Time from an event, or its replay, to the delivery that an endpoint took.',
      buckets: [1, 5, 30, 120, 600, 3_600, 21_600, 86_400],
      registers,
    }),
    webhookBacklog: gauge(
      'adsweep_webhook_backlog',
      'Deliveries that wait, those to paused endpoints too, by their age: up to a minute, then up to an hour, six hours and a day; each counted up to 10,000.',
      ['age'],
    ),
    failingEndpoints: gauge(
      'adsweep_webhook_endpoints_failing',
      'Active webhook endpoints whose last delivery failed, counted up to 10,000.',
      [],
    ),
    removed: counter(
      'adsweep_removed_total',
      'Scans, evidence of scans, and attempts and targets that no scan names, removed for good.',
      ['what'],
    ),
    jobs: gauge('adsweep_crawl_jobs', 'Crawl jobs in the queue.', ['state']),
    oldestJob: gauge(
      'adsweep_crawl_jobs_oldest_seconds',
      'For how long the oldest crawl job of a priority class has waited for a node; 0: none waits. Those of organizations at their cap do not count.',
      ['class'],
    ),
    jobSeconds: gauge(
      'adsweep_crawl_job_mean_seconds',
      'Mean of the time for which the last jobs of a priority class were leased; 0: none has ended.',
      ['class'],
    ),
    refillRemaining: gauge(
      'adsweep_refill_remaining_jobs',
      'Jobs of pending scans that a refill of the whole queue has yet to look at; 0: none is under way.',
      [],
    ),
    nodes: gauge('adsweep_nodes', 'Browser nodes that reported themselves lately.', ['state']),
    slots: gauge(
      'adsweep_fleet_slots',
      'Slots of the browser nodes that are not blocked; those of overloaded, waiting and draining nodes are not free.',
      ['state'],
    ),
    desiredNodes: gauge(
      'adsweep_desired_nodes',
      'Nodes that have a slot for every leased job, and for every waiting one within the time that its priority class may wait.',
      [],
    ),
    scalerActions: counter('adsweep_scaler_actions_total', 'What the scaler did to containers and nodes.', ['action']),
    scalerTarget: gauge(
      'adsweep_scaler_target_nodes',
      'Nodes that there are to be by the last decision of the scaler in this process.',
      [],
    ),
    scalerHosts: gauge('adsweep_scaler_hosts', 'Docker hosts of the scaler in this process by whether they answer.', [
      'state',
    ]),
    analysisWaiting: gauge(
      'adsweep_analysis_waiting_scans',
      'Crawled scans whose analysis has not begun, counted up to 10,000; rechecks do not count.',
      [],
    ),
    analysisOldest: gauge(
      'adsweep_analysis_oldest_seconds',
      'For how long the crawled scan that was crawled first has waited for its analysis to begin; 0: none waits.',
      [],
    ),
    modelCalls: counter(
      'adsweep_ai_calls_total',
      'Calls to the AI model by their outcome; `remembered`: an earlier answer was used, and no call was made; `cut_off`: its output tokens did not suffice.',
      ['outcome'],
    ),
    modelTokens: counter('adsweep_ai_tokens_total', 'Tokens that the AI model read (input) and wrote (output).', [
      'kind',
    ]),
    modelCost: counter(
      'adsweep_ai_cost_micros_total',
      'What the calls to the AI model cost by the prices of the settings, in millionths of the currency.',
      [],
    ),
    modelSeconds: new Histogram({
      name: 'adsweep_ai_call_seconds',
      help: 'Time that a call to the AI model took, answered or not.',
      buckets: [0.5, 1, 2, 5, 10, 20, 30, 60, 120],
      registers,
    }),
    stepSeconds: new Histogram({
      name: 'adsweep_check_step_seconds',
      help: 'Time that one step of the checks after a crawl took.',
      labelNames: ['step'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 150],
      registers,
    }),
  };
  for (const outcome of LEASE_OUTCOMES) metrics.leases.inc({ outcome }, 0);
  for (const code of FAILURE_CODES) metrics.failedAttempts.inc({ code }, 0);
  for (const call of LATE_CALLS) metrics.lateResults.inc({ call }, 0);
  for (const outcome of WEBHOOK_OUTCOMES) metrics.webhookDeliveries.inc({ outcome }, 0);
  for (const what of REMOVED) metrics.removed.inc({ what }, 0);
  for (const outcome of MODEL_CALLS) metrics.modelCalls.inc({ outcome }, 0);
  for (const kind of TOKENS) metrics.modelTokens.inc({ kind }, 0);
  for (const outcome of FIRINGS) metrics.firings.inc({ outcome }, 0);
  for (const status of FINAL_STATES)
    for (const name of CLASS_NAMES) metrics.finishedScans.inc({ status, class: name }, 0);
  for (const severity of SEVERITIES) metrics.findings.inc({ severity }, 0);
  for (const action of ['start', 'drain', 'stop', 'remove']) metrics.scalerActions.inc({ action }, 0);
  for (const entry of ['charge', 'refund']) metrics.booked.inc({ entry }, 0);
  return metrics;
}
