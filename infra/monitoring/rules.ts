/** A recording rule: a number that dashboards and alerts share, computed once. */
export type Recording = { record: string; expr: string };

/** Leaves out probes and scrapes, which would make the share of failed requests smaller, or larger while a process stops. */
export const NO_PROBES = 'route!~"/healthz|/readyz|/metrics"';

const requests = (status: string) =>
  `sum by (surface) (increase(adsweep_http_request_duration_seconds_count{service="control-plane",${NO_PROBES},status=~"${status}"}[10m]))`;

/** Roles without which something that clients rely on does not happen. */
const NEEDED_ROLES = ['api', 'node-api', 'checks', 'relay', 'dispatcher', 'reaper', 'refill', 'scheduler', 'sweeper'];

const waitingSeconds = ['interactive', 'bulk', 'campaign'].map(
  (name) => `max(adsweep_crawl_jobs{state="waiting_${name}"}) * max(adsweep_crawl_job_mean_seconds{class="${name}"})`,
);

/** Gauges of the queue and the fleet are the same in every control plane that reports them: `max`, not `sum`. */
export const RECORDINGS: Recording[] = [
  { record: 'adsweep:scans_finished:rate5m', expr: 'sum by (status, class) (rate(adsweep_finished_scans_total[5m]))' },
  {
    record: 'adsweep:scans_failed:ratio30m',
    expr: 'sum(increase(adsweep_finished_scans_total{status="failed"}[30m])) / (sum(increase(adsweep_finished_scans_total[30m])) > 0)',
  },
  { record: 'adsweep:slots:max', expr: 'max by (state) (adsweep_fleet_slots)' },
  { record: 'adsweep:nodes:max', expr: 'max by (state) (adsweep_nodes)' },
  { record: 'adsweep:backlog_slot_seconds', expr: waitingSeconds.join(' + ') },
  {
    record: 'adsweep:backlog_empty_seconds',
    expr: 'adsweep:backlog_slot_seconds / (sum(adsweep:slots:max{state=~"busy|free"}) > 0)',
  },
  {
    record: 'adsweep:exit_refusals:ratio15m',
    expr: 'sum(increase(adsweep_exit_tickets_total{outcome!="issued"}[15m])) / (sum(increase(adsweep_exit_tickets_total[15m])) > 0)',
  },
  {
    record: 'adsweep:cost_per_1000_scans:1d',
    expr: '1000 * (sum(increase(adsweep_provider_cost_total[1d])) + sum(increase(adsweep_ai_cost_micros_total[1d])) / 1e6) / (sum(increase(adsweep_finished_scans_total[1d])) > 0)',
  },
];

/** Input of a promtool test: series and their values, in its notation, a value a minute. */
export type Samples = Record<string, string>;

/**
 * An alert. `summary` says what is wrong, the section of its name in OPERATIONS.md what to do. `fires` are samples for which it fires after
 * `minutes`, in its test; `labels` those of the alert.
 */
export type Alert = {
  alert: string;
  expr: string;
  for: string;
  severity: 'page' | 'ticket';
  summary: string;
  test: { fires: Samples; minutes: number; labels?: Record<string, string> };
};

export const ALERTS: Alert[] = [
  {
    alert: 'AdsweepServiceDown',
    expr: 'up{job="adsweep"} == 0',
    for: '3m',
    severity: 'page',
    summary: 'A process of Adsweep does not answer Prometheus.',
    test: {
      fires: { 'up{job="adsweep",instance="a"}': '0x10' },
      minutes: 5,
      labels: { job: 'adsweep', instance: 'a' },
    },
  },
  {
    // The engine's DNS has no address of a container that has ended: Prometheus looks for it no more, and its `up` is gone.
    alert: 'AdsweepServiceMissing',
    expr: [
      ...NEEDED_ROLES.map((role) => `absent(adsweep_roles{role="${role}"})`),
      'absent(adsweep_process_start_time_seconds{service="proxy-router"})',
    ].join(' or '),
    for: '5m',
    severity: 'page',
    summary: 'Prometheus finds no process of a role of the control plane, or no proxy-router.',
    test: {
      fires: {
        ...Object.fromEntries(NEEDED_ROLES.slice(1).map((role) => [`adsweep_roles{role="${role}"}`, '1x20'])),
        'adsweep_roles{role="api"}': '1x5 _x15',
        'adsweep_process_start_time_seconds{service="proxy-router"}': '1x20',
      },
      minutes: 18,
      labels: { role: 'api' },
    },
  },
  {
    alert: 'AdsweepNotReady',
    expr: 'adsweep_ready{check!="draining"} == 0',
    for: '5m',
    severity: 'page',
    summary:
      'A process of the control plane lacks something that its work needs, such as Redis or a disk that can be written to.',
    test: {
      fires: {
        'adsweep_ready{check="redis",instance="a"}': '0x20',
        'adsweep_ready{check="draining",instance="a"}': '0x20',
      },
      minutes: 10,
      labels: { check: 'redis', instance: 'a' },
    },
  },
  {
    alert: 'AdsweepDiskFills',
    expr: 'min(predict_linear(adsweep_disk_free_above_floor_bytes[6h], 86400)) < 0',
    for: '1h',
    severity: 'ticket',
    summary: 'The disk that files are stored on will be full within a day if it fills as it has for six hours.',
    test: { fires: { 'adsweep_disk_free_above_floor_bytes{disk="files"}': '15000000000-15000000x500' }, minutes: 400 },
  },
  {
    alert: 'AdsweepCertificateExpires',
    expr: 'adsweep_certificate_validity_left_ratio < 0.1',
    for: '15m',
    severity: 'ticket',
    summary: 'A certificate in use was not renewed: less than a tenth of its validity is left.',
    test: {
      fires: { 'adsweep_certificate_validity_left_ratio{certificate="/tls/node-api.pem",instance="a"}': '0.09x40' },
      minutes: 20,
      labels: { certificate: '/tls/node-api.pem', instance: 'a' },
    },
  },
  {
    alert: 'AdsweepNoNodes',
    // The scaler may keep none while there is no work.
    expr: 'sum(adsweep:nodes:max{state=~"working|overloaded"}) == 0 unless (max(adsweep_desired_nodes) == 0 and max(adsweep_scaler_hosts) > 0)',
    for: '5m',
    severity: 'page',
    summary: 'No browser node takes work: scans are accepted and wait.',
    test: {
      fires: { 'adsweep_nodes{state="working"}': '0x20', 'adsweep_nodes{state="draining"}': '2x20' },
      minutes: 10,
    },
  },
  {
    alert: 'AdsweepNodesMissing',
    expr: 'max(adsweep_desired_nodes) > sum(adsweep:nodes:max{state=~"working|overloaded"}) * 1.2',
    for: '20m',
    severity: 'ticket',
    summary: 'The work has needed more nodes than there are for 20 minutes.',
    test: { fires: { adsweep_desired_nodes: '10x40', 'adsweep_nodes{state="working"}': '6x40' }, minutes: 30 },
  },
  {
    alert: 'AdsweepJobsWaitTooLong',
    expr: 'max(adsweep_crawl_jobs_oldest_seconds{class="interactive"}) > 120 or max(adsweep_crawl_jobs_oldest_seconds{class="bulk"}) > 600 or max(adsweep_crawl_jobs_oldest_seconds{class="campaign"}) > 3600',
    for: '5m',
    severity: 'page',
    summary: 'Jobs have waited much longer than those of their class may.',
    test: { fires: { 'adsweep_crawl_jobs_oldest_seconds{class="bulk"}': '0+60x40' }, minutes: 30 },
  },
  {
    alert: 'AdsweepScansFail',
    expr: 'adsweep:scans_failed:ratio30m > 0.25 and sum(increase(adsweep_finished_scans_total[30m])) > 20',
    for: '10m',
    severity: 'page',
    summary: 'More than a quarter of the scans of half an hour failed.',
    test: {
      fires: {
        'adsweep_finished_scans_total{status="failed",class="bulk"}': '0+4x60',
        'adsweep_finished_scans_total{status="completed",class="bulk"}': '0+6x60',
      },
      minutes: 45,
    },
  },
  {
    alert: 'AdsweepLeasesLost',
    expr: 'sum(increase(adsweep_leases_total{outcome="lost"}[15m])) > 0.05 * sum(increase(adsweep_leases_total{outcome="granted"}[15m])) and sum(increase(adsweep_leases_total{outcome="lost"}[15m])) > 5',
    for: '5m',
    severity: 'ticket',
    summary: 'More than one in twenty leases is lost: nodes die, or do not reach the node API.',
    test: {
      fires: { 'adsweep_leases_total{outcome="lost"}': '0+2x60', 'adsweep_leases_total{outcome="granted"}': '0+20x60' },
      minutes: 30,
    },
  },
  {
    alert: 'AdsweepExitsRefused',
    expr: 'adsweep:exit_refusals:ratio15m > 0.2 and sum(increase(adsweep_exit_tickets_total[15m])) > 20',
    for: '10m',
    severity: 'ticket',
    summary: 'More than a fifth of the requests for an exit are refused, of more than twenty in a quarter of an hour.',
    test: {
      fires: {
        'adsweep_exit_tickets_total{outcome="NODE_BUSY"}': '0+3x60',
        'adsweep_exit_tickets_total{outcome="issued"}': '0+7x60',
      },
      minutes: 40,
    },
  },
  {
    alert: 'AdsweepCatalogueStale',
    expr: 'time() - max(adsweep_catalogue_read_timestamp_seconds) > 300',
    for: '5m',
    severity: 'ticket',
    summary: "The proxy-router's catalogue has not been read for five minutes.",
    test: { fires: { adsweep_catalogue_read_timestamp_seconds: '0x40' }, minutes: 20 },
  },
  {
    alert: 'AdsweepOutboxStuck',
    expr: 'max by (source) (adsweep_outbox_oldest_seconds) > 300',
    for: '5m',
    severity: 'page',
    summary: 'What must follow a change (charges, events, alerts) has waited for five minutes.',
    test: {
      fires: { 'adsweep_outbox_oldest_seconds{source="scans"}': '0+60x40' },
      minutes: 20,
      labels: { source: 'scans' },
    },
  },
  {
    alert: 'AdsweepWebhooksLate',
    expr: 'histogram_quantile(0.5, sum by (le) (rate(adsweep_webhook_lateness_seconds_bucket[15m]))) > 60',
    for: '15m',
    severity: 'ticket',
    summary: 'Half of the webhook deliveries are more than a minute late.',
    test: {
      fires: {
        'adsweep_webhook_lateness_seconds_bucket{le="30"}': '0x60',
        'adsweep_webhook_lateness_seconds_bucket{le="120"}': '0x60',
        'adsweep_webhook_lateness_seconds_bucket{le="600"}': '0+10x60',
        'adsweep_webhook_lateness_seconds_bucket{le="+Inf"}': '0+10x60',
      },
      minutes: 40,
    },
  },
  {
    alert: 'AdsweepApiErrors',
    // The node API has many times the requests of the API.
    expr: `${requests('5..')} > 0.01 * ${requests('.+')} and ${requests('5..')} > 5`,
    for: '5m',
    severity: 'page',
    summary: 'More than one in a hundred requests of clients or of nodes is answered with 5xx.',
    test: {
      fires: {
        'adsweep_http_request_duration_seconds_count{service="control-plane",surface="api",route="/api/v1/scans",status="500"}':
          '0+3x40',
        'adsweep_http_request_duration_seconds_count{service="control-plane",surface="api",route="/api/v1/scans",status="200"}':
          '0+90x40',
        'adsweep_http_request_duration_seconds_count{service="control-plane",surface="api",route="/readyz",status="200"}':
          '0+900x40',
        'adsweep_http_request_duration_seconds_count{service="control-plane",surface="node_api",route="/node/v1/acquire",status="200"}':
          '0+900x40',
      },
      minutes: 20,
      labels: { surface: 'api' },
    },
  },
  {
    alert: 'AdsweepRefillLasts',
    expr: 'max(adsweep_refill_remaining_jobs) > 0',
    for: '30m',
    severity: 'ticket',
    summary: 'The index of work has been rebuilt for half an hour, and is not complete.',
    test: { fires: { adsweep_refill_remaining_jobs: '5000x60' }, minutes: 40 },
  },
  {
    alert: 'AdsweepScalerHostAway',
    expr: 'max(adsweep_scaler_hosts{state="unreachable"}) > 0',
    for: '10m',
    severity: 'ticket',
    summary: 'A Docker host of the scaler does not answer.',
    test: { fires: { 'adsweep_scaler_hosts{state="unreachable"}': '1x40' }, minutes: 20 },
  },
];

/** A calm day, in which no alert fires: a wave of work, a few failures, one short backlog, a node that is replaced. */
export const CALM_DAY: Samples = {
  'up{job="adsweep",instance="a"}': '1x1440',
  'adsweep_nodes{state="working",instance="a"}': '4x600 3 4x599 0x239',
  'adsweep_nodes{state="draining",instance="a"}': '0x600 1 0x839',
  'adsweep_desired_nodes{instance="a"}': '2x400 6x10 4x790 0x238',
  'adsweep_crawl_jobs_oldest_seconds{class="interactive",instance="a"}': '2x1440',
  'adsweep_crawl_jobs_oldest_seconds{class="bulk",instance="a"}': '10x400 0+60x8 15x1032',
  'adsweep_crawl_jobs_oldest_seconds{class="campaign",instance="a"}': '100x1440',
  'adsweep_finished_scans_total{status="completed",class="bulk",instance="a"}': '0+18x1440',
  'adsweep_finished_scans_total{status="failed",class="bulk",instance="a"}': '0+2x1440',
  'adsweep_leases_total{outcome="granted",instance="a"}': '0+20x1440',
  'adsweep_leases_total{outcome="lost",instance="a"}': '0x600 4x840',
  'adsweep_exit_tickets_total{outcome="issued",instance="a"}': '0+20x1440',
  'adsweep_exit_tickets_total{outcome="NODE_BUSY",instance="a"}': '0+1x1440',
  'adsweep_catalogue_read_timestamp_seconds{instance="a"}': '0+60x1440',
  'adsweep_outbox_oldest_seconds{source="scans",instance="a"}': '0x700 40x10 0x730',
  'adsweep_webhook_lateness_seconds_bucket{le="1",instance="a"}': '0+19x1440',
  'adsweep_webhook_lateness_seconds_bucket{le="30",instance="a"}': '0+20x1440',
  'adsweep_webhook_lateness_seconds_bucket{le="+Inf",instance="a"}': '0+20x1440',
  'adsweep_http_request_duration_seconds_count{service="control-plane",surface="api",route="/api/v1/scans",status="200",instance="a"}':
    '0+600x1440',
  'adsweep_http_request_duration_seconds_count{service="control-plane",surface="api",route="/api/v1/scans",status="503",instance="a"}':
    '0x700 4x740',
  // A restart: each balancer and each engine asks a process that stops, every second.
  'adsweep_http_request_duration_seconds_count{service="control-plane",surface="api",route="/readyz",status="503",instance="a"}':
    '0x600 40x839',
  'adsweep_refill_remaining_jobs{instance="a"}': '0x800 4000 2000 0x638',
  ...Object.fromEntries(NEEDED_ROLES.map((role) => [`adsweep_roles{role="${role}",instance="a"}`, '1x600 _ 1x839'])),
  'adsweep_process_start_time_seconds{service="proxy-router",instance="a"}': '1x600 _ 1x839',
  'adsweep_ready{check="redis",instance="a"}': '1x600 0 1x839',
  'adsweep_ready{check="draining",instance="a"}': '1x600 0 1x839',
  'adsweep_disk_free_above_floor_bytes{disk="files",instance="a"}': '60000000000-10000000x1440',
  'adsweep_certificate_validity_left_ratio{certificate="/tls/node-api.pem",instance="a"}': '0.4-0.0001x700 1x739',
  'adsweep_scaler_hosts{state="unreachable",instance="a"}': '0x900 1x5 0x535',
  'adsweep_scaler_hosts{state="reachable",instance="a"}': '2x900 1x5 2x535',
};
