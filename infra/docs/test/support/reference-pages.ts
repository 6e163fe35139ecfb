import { createMetrics as nodeMetrics } from '../../../../browser-node/src/metrics.ts';
import { EVENT_TYPES } from '../../../../control-plane/src/delivery/webhooks/event-types.ts';
import { ERRORS } from '../../../../control-plane/src/http/errors.ts';
import { measureProcess, createMetrics as planeMetrics, workMetrics } from '../../../../control-plane/src/metrics.ts';
import { measureProviders, createMetrics as routerMetrics } from '../../../../proxy-router/src/metrics.ts';
import { FAILURE_EXPLANATIONS } from '../../../../shared/src/failure-explanations.ts';
import { FAILURE_CODES, isOurFault, isTransient, publicTextOf } from '../../../../shared/src/failures.ts';
import { createRegistry } from '../../../../shared/src/service/metrics.ts';
import { settingsRows } from '../../../../shared/test/support/settings-table.ts';
import { FarmConfigSchema } from '../../../farm/config.ts';
import { SERVICES } from '../../../farm/services.ts';

/** The documents that follow from declarations in the code, by their file names. */
export const referencePages = (): Record<string, string> => ({
  'errors.md': errorsPage(),
  'events.md': eventsPage(),
  'settings.md': settingsPage(),
  'metrics.md': metricsPage(),
});

function errorsPage(): string {
  const groups = Map.groupBy(Object.entries(ERRORS), ([code]) =>
    code.includes('.') ? code.split('.')[0]! : 'general',
  );
  const ofApi = [...groups].toSorted(([one], [other]) => Number(other === 'general') - Number(one === 'general'));
  return page(
    'Errors',
    `Every response that refuses a request has a \`code\` from this page, and \`detail\`: a text, or a list with an item for each field. A scan that fails has one of the
[failures of scans](#failures-of-scans) as its \`error\`.`,
    ...ofApi.flatMap(([group, codes]) => [
      `## ${titleOf(group)}`,
      ...codes.map(([code, { status, means, cure }]) => `### \`${code}\`\n\n**${status}.** ${means}\n\n${cure}`),
    ]),
    '## Failures of scans',
    `A scan with \`retry_max_attempts\` (0 by default) is tried again after a transient failure, with another exit or browser, and fails only when it has no attempt left. The
charge of a scan that failed by a fault of ours is refunded.`,
    ...FAILURE_CODES.filter((code) => publicTextOf(code) === code).map((code) => {
      const { means, cure } = FAILURE_EXPLANATIONS[code];
      const kind = [isTransient(code) ? 'Transient' : 'Permanent', ...(isOurFault(code) ? ['refunded'] : [])].join(
        ', ',
      );
      return `### \`${code}\`\n\n**${kind}.** ${means}\n\n${cure}`;
    }),
  );
}

const TITLES: Record<string, string> = { general: 'All operations', scanning: 'Scans', checking: 'Tags and rules' };

const titleOf = (group: string): string =>
  TITLES[group] ?? group.charAt(0).toUpperCase() + group.slice(1).replaceAll('_', ' ');

function eventsPage(): string {
  return page(
    'Events',
    `What a webhook endpoint can receive. Each event is a POST with the headers \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\` of
[Standard Webhooks](https://www.standardwebhooks.com); [the quickstart](quickstart-webhooks.md) receives one. \`sequence\` in \`data\` orders the events of a scan.`,
    ...EVENT_TYPES.flatMap(({ kind, description, sample }) => [
      `## \`${kind}\``,
      description,
      fenced('json', JSON.stringify(sample, null, 2)),
    ]),
  );
}

function settingsPage(): string {
  const table = (rows: string[][]) => tableOf(['setting', 'default', 'meaning'], rows);
  const services = ['control-plane', 'browser-node', 'proxy-router'] as const;
  return page(
    'Settings',
    `Each process reads its settings from its environment. A secret can also be read from a file, named by \`<NAME>_FILE\`. A start with a wrong
setting, or with a variable that is one letter away from one, ends with all problems at once. Other variables that begin with \`ADSWEEP_\` and are no settings
are named in the log, or by \`npm start\` in its output. Compose has a few [of its own](guide-scaling.md#compose).`,
    '## npm start',
    table(settingsRows(FarmConfigSchema)),
    ...services.flatMap((name) => [`## ${name}`, table(settingsRows(SERVICES[name].settings))]),
  );
}

function metricsPage(): string {
  const plane = planeMetrics().registry;
  measureProcess(plane, { roles: [], checks: [], disk: null });
  workMetrics(plane);
  const node = createRegistry('browser-node');
  nodeMetrics(node);
  const router = createRegistry('proxy-router');
  routerMetrics(router);
  measureProviders(router, () => []);
  const ofNode = new Set(
    createRegistry('any')
      .getMetricsAsArray()
      .map(({ name }) => name),
  );
  return page(
    'Metrics',
    `Every process serves metrics for Prometheus at \`/metrics\`, for a bearer of \`ADSWEEP_METRICS_TOKEN\`; where that is not set, of the node token, which \`npm start\`
keeps in its data folder: \`node_token\` in \`secrets.json\`. All carry the label \`service\`, and those of Node.js
itself (\`adsweep_process_...\`, \`adsweep_nodejs_...\`) are the same everywhere.`,
    ...Object.entries({ 'control-plane': plane, 'browser-node': node, 'proxy-router': router }).flatMap(
      ([name, registry]) => [`## ${name}`, metricsTable(registry, ofNode)],
    ),
  );
}

/** `labelNames` is not in the types of prom-client. */
type Declared = { name: string; help: string; labelNames?: string[]; constructor: { name: string } };

function metricsTable(registry: ReturnType<typeof createRegistry>, common: Set<string>): string {
  const rows = (registry.getMetricsAsArray() as unknown as Declared[])
    .filter(({ name }) => !common.has(name))
    .map((metric) => [
      ...[`\`${metric.name}\``, metric.constructor.name.toLowerCase()],
      ...[(metric.labelNames ?? []).map((label) => `\`${label}\``).join(', '), metric.help],
    ]);
  return tableOf(['metric', 'type', 'labels', 'meaning'], rows);
}

const page = (title: string, ...parts: string[]): string => `${[`# ${title}`, ...parts].join('\n\n')}\n`;
const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
const rowOf = (cells: string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll(/(?<!\\)\|/g, '\\|')).join(' | ')} |`;
const tableOf = (head: string[], rows: string[][]): string =>
  [rowOf(head), rowOf(head.map(() => '---')), ...rows.map(rowOf)].join('\n');
