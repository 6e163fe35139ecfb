import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DASHBOARDS, type Panel } from './panels.ts';
import { ALERTS, type Alert, CALM_DAY, RECORDINGS, type Samples } from './rules.ts';
import { toYaml } from './yaml.ts';

/** `node infra/monitoring/build.ts` writes the rules of Prometheus and the dashboards of Grafana from the lists beside this file. */

const MADE = '# Made by infra/monitoring/build.ts.\n';

/** The files by their paths below `infra`. */
export function monitoringFiles(): Record<string, string> {
  const dashboards = Object.entries(DASHBOARDS).map(([title, panels]) => [
    `grafana/dashboards/${title.toLowerCase()}.json`,
    `${JSON.stringify(dashboard(title, panels), null, 1)}\n`,
  ]);
  return {
    'prometheus/rules/adsweep.yaml': MADE + toYaml({ groups: ruleGroups() }),
    ...Object.fromEntries(dashboards),
  };
}

/** The input of `promtool test rules`: each alert fires for its samples, and none on a calm day. `rules`: path of the rules. */
export const promtoolTests = (rules: string): string =>
  toYaml({ rule_files: [rules], evaluation_interval: '1m', tests: ruleTests() });

const ruleGroups = () => [
  { name: 'adsweep-recordings', rules: RECORDINGS },
  {
    name: 'adsweep-alerts',
    rules: ALERTS.map(({ alert, expr, for: time, severity, summary }) => ({
      alert,
      expr,
      for: time,
      labels: { severity },
      annotations: annotationsOf({ alert, summary }),
    })),
  },
];

const annotationsOf = ({ alert, summary }: Pick<Alert, 'alert' | 'summary'>) => ({
  summary,
  runbook: `infra/OPERATIONS.md#${alert.toLowerCase()}`,
});

function ruleTests() {
  const of = (name: string, samples: Samples, expected: object[]) => ({
    name,
    interval: '1m',
    input_series: Object.entries(samples).map(([series, values]) => ({ series, values })),
    alert_rule_test: expected,
  });
  const firing = ALERTS.map(({ alert, summary, severity, test }) => {
    const exp_alerts = [
      { exp_labels: { ...test.labels, severity }, exp_annotations: annotationsOf({ alert, summary }) },
    ];
    return of(`${alert} fires`, test.fires, [{ eval_time: `${test.minutes}m`, alertname: alert, exp_alerts }]);
  });
  const hours = Array.from({ length: 47 }, (_, at) => `${30 * (at + 1)}m`);
  const silent = ALERTS.flatMap(({ alert: alertname }) =>
    hours.map((eval_time) => ({ eval_time, alertname, exp_alerts: [] })),
  );
  return [...firing, of('a calm day is silent', CALM_DAY, silent)];
}

function dashboard(title: string, panels: Panel[]) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's notation of a variable of the dashboard
  const datasource = { type: 'prometheus', uid: '${source}' };
  return {
    uid: `adsweep-${title.toLowerCase()}`,
    title: `Adsweep: ${title}`,
    tags: ['adsweep'],
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: [{ name: 'source', label: 'Prometheus', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map(({ title: name, unit, queries }, at) => ({
      id: at + 1,
      type: 'timeseries',
      title: name,
      datasource,
      gridPos: { x: 12 * (at % 2), y: 8 * Math.floor(at / 2), w: 12, h: 8 },
      fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] },
      options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
      targets: queries.map(([expr, legendFormat], query) => ({
        refId: String.fromCharCode(65 + query),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  };
}

if (import.meta.main)
  for (const [path, text] of Object.entries(monitoringFiles())) {
    const file = join(import.meta.dirname, '..', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
