import { NO_PROBES } from './rules.ts';

/** A panel of a dashboard: its queries with the names of their lines. `unit` is Grafana's name of it. */
export type Panel = { title: string; unit: string; queries: [expr: string, legend: string][] };

const p = (title: string, unit: string, ...queries: Panel['queries']): Panel => ({ title, unit, queries });
const quantile = (share: number, metric: string, by = '') =>
  `histogram_quantile(${share}, sum by (le${by && `, ${by}`}) (rate(${metric}_bucket[5m])))`;
const perSecond = (metric: string, by: string) => `sum by (${by}) (rate(${metric}[5m]))`;

/** All dashboards by their titles, each a list of panels, two in a row. */
export const DASHBOARDS: Record<string, Panel[]> = {
  Fleet: [
    p('Nodes by state', 'short', ['adsweep:nodes:max', '{{state}}'], ['max(adsweep_desired_nodes)', 'needed']),
    p('Slots by state', 'short', ['adsweep:slots:max', '{{state}}']),
    p('Jobs in the queue', 'short', ['max by (state) (adsweep_crawl_jobs)', '{{state}}']),
    p('Age of the oldest waiting job', 's', ['max by (class) (adsweep_crawl_jobs_oldest_seconds)', '{{class}}']),
    p('Leases by how they end', 'ops', [perSecond('adsweep_leases_total', 'outcome'), '{{outcome}}']),
    p('Failed attempts', 'ops', [perSecond('adsweep_failed_attempts_total', 'code'), '{{code}}']),
    p('Use of a node, the fullest one', 'percentunit', ['max by (resource) (adsweep_node_used_ratio)', '{{resource}}']),
    p('Browsers started', 'ops', [perSecond('adsweep_node_browser_launches_total', 'reason'), '{{reason}}']),
    p('Connections of the gateway by outcome', 'ops', [
      perSecond('adsweep_gateway_connections_total', 'outcome'),
      '{{outcome}}',
    ]),
    p('Exits by state', 'short', ['max by (provider, state) (adsweep_exits)', '{{provider}} {{state}}']),
    p('Processes that lack something', 'short', [
      'count by (check) (adsweep_ready{check!="draining"} == 0)',
      '{{check}}',
    ]),
    p('Free space until nothing is taken', 'bytes', ['min(adsweep_disk_free_above_floor_bytes)', 'files']),
  ],
  Capacity: [
    p(
      'Nodes: needed, wanted by the scaler, working',
      'short',
      ['max(adsweep_desired_nodes)', 'needed'],
      ['max(adsweep_scaler_target_nodes)', 'target'],
      ['sum(adsweep:nodes:max{state=~"working|overloaded"})', 'working'],
    ),
    p('Scans that wait for their analysis', 'short', ['max(adsweep_analysis_waiting_scans)', 'scans']),
    p('Age of the oldest scan that waits for its analysis', 's', ['max(adsweep_analysis_oldest_seconds)', 'oldest']),
    p('Time to empty the backlog', 's', ['adsweep:backlog_empty_seconds', 'with the slots of now']),
    p('Mean time of a job', 's', ['max by (class) (adsweep_crawl_job_mean_seconds)', '{{class}}']),
    p('Seconds of each stage, 95 of 100', 's', [quantile(0.95, 'adsweep_scan_stage_seconds', 'stage'), '{{stage}}']),
    p('Crawl by what is scanned, median', 's', [
      'histogram_quantile(0.5, sum by (le, kind) (rate(adsweep_scan_stage_seconds_bucket{stage="crawl"}[15m])))',
      '{{kind}}',
    ]),
    p('Cost of 1,000 scans over a day', 'short', ['adsweep:cost_per_1000_scans:1d', 'exits and AI']),
    p('Bytes through exits by type', 'Bps', [
      perSecond('adsweep_provider_bytes_total', 'proxy_type, direction'),
      '{{proxy_type}} {{direction}}',
    ]),
    p('Bytes of uploaded artifacts', 'Bps', ['sum(rate(adsweep_uploaded_artifact_bytes_total[5m]))', 'artifacts']),
    p('CPU of the services', 'short', [perSecond('adsweep_process_cpu_seconds_total', 'service'), '{{service}}']),
    p('Memory of the services', 'bytes', ['sum by (service) (adsweep_process_resident_memory_bytes)', '{{service}}']),
    p('What the scaler did', 'ops', [perSecond('adsweep_scaler_actions_total', 'action'), '{{action}}']),
    p('Delay of the event loop, the worst process', 's', [
      'max by (service) (adsweep_nodejs_eventloop_lag_p99_seconds)',
      '{{service}}',
    ]),
  ],
  Subscribers: [
    p('Tries of deliveries by outcome', 'ops', [
      perSecond('adsweep_webhook_deliveries_total', 'outcome'),
      '{{outcome}}',
    ]),
    p(
      'From an event to its delivery',
      's',
      [quantile(0.5, 'adsweep_webhook_lateness_seconds'), 'median'],
      [quantile(0.95, 'adsweep_webhook_lateness_seconds'), '95 of 100'],
    ),
    p('Deliveries that wait, by age', 'short', ['max by (age) (adsweep_webhook_backlog)', '{{age}}']),
    p('Endpoints that fail', 'short', ['max(adsweep_webhook_endpoints_failing)', 'endpoints']),
    p('Messages about alerts', 'ops', [
      perSecond('adsweep_alert_messages_total', 'channel, outcome'),
      '{{channel}} {{outcome}}',
    ]),
    p('Age of the oldest outbox entry', 's', ['max by (source) (adsweep_outbox_oldest_seconds)', '{{source}}']),
    p('Outbox entries that fail', 'ops', [perSecond('adsweep_outbox_failures_total', 'kind'), '{{kind}}']),
  ],
  Business: [
    p('Scans finished by outcome', 'ops', ['sum by (status) (adsweep:scans_finished:rate5m)', '{{status}}']),
    p('Scans finished by priority class', 'ops', ['sum by (class) (adsweep:scans_finished:rate5m)', '{{class}}']),
    p('Share of failed scans', 'percentunit', ['adsweep:scans_failed:ratio30m', 'of half an hour']),
    p('Findings by severity', 'ops', [perSecond('adsweep_findings_total', 'severity'), '{{severity}}']),
    p(
      'Scans accepted',
      'ops',
      ['sum(rate(adsweep_scans_submitted_total[5m]))', 'by clients'],
      ['sum(rate(adsweep_added_members_total[5m]))', 'found by sweeps'],
    ),
    p('Booked in an hour', 'short', ['sum by (entry) (increase(adsweep_booked_micros_total[1h])) / 1e6', '{{entry}}']),
    p('Runs started by schedules', 'ops', [perSecond('adsweep_schedule_firings_total', 'outcome'), '{{outcome}}']),
    p('Calls to the AI model', 'ops', [perSecond('adsweep_ai_calls_total', 'outcome'), '{{outcome}}']),
    p('Requests of clients by status', 'reqps', [
      `sum by (status) (rate(adsweep_http_request_duration_seconds_count{surface="api",${NO_PROBES}}[5m]))`,
      '{{status}}',
    ]),
    p('Time of a request, 95 of 100', 's', [
      `histogram_quantile(0.95, sum by (le, method) (rate(adsweep_http_request_duration_seconds_bucket{surface="api",${NO_PROBES}}[5m])))`,
      '{{method}}',
    ]),
  ],
};
