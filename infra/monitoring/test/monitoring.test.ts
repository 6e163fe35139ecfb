import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createRegistry } from '@adsweep/shared/service/metrics.ts';
import { load } from 'js-yaml';
import { monitoringFiles, promtoolTests } from '../build.ts';
import { DASHBOARDS } from '../panels.ts';
import { ALERTS, CALM_DAY, RECORDINGS } from '../rules.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const panels = Object.values(DASHBOARDS).flat();
const queries = panels.flatMap((panel) => panel.queries.map(([expr]) => expr));

/** The names of the metrics that the services declare; a test reads them in the source, because they are declared with many other parts. */
const DECLARED = new Set([
  ...globSync('{{control-plane,proxy-router,browser-node}/src/**/metrics,shared/src/service/certificates-in-use}.ts', {
    cwd: ROOT,
  }).flatMap((path) => [...read(path).matchAll(/'(adsweep_[a-z0-9_]+)'/g)].map(([, name = '']) => name)),
  ...createRegistry('any')
    .getMetricsAsArray()
    .map(({ name }) => name),
]);
const RECORDED = new Set(RECORDINGS.map(({ record }) => record));
const unknownIn = (text: string) =>
  [...text.matchAll(/\badsweep[_:][a-z0-9_:]+/g)]
    .map(([name]) => name)
    .filter(
      (name) => !RECORDED.has(name) && !DECLARED.has(name) && !DECLARED.has(name.replace(/_(bucket|sum|count)$/, '')),
    );

type Scrape = {
  job_name: string;
  scheme?: string;
  tls_config?: { server_name: string };
  relabel_configs?: { target_label: string; replacement: string }[];
  dns_sd_configs: { names: string[]; port: number }[];
};

/** What a file for Prometheus scrapes: the name and port of each service, with the job of its series and the name that its certificate must have. */
function scrapedBy(file: string) {
  const { scrape_configs } = load(read(`infra/prometheus/${file}`)) as { scrape_configs: Scrape[] };
  return scrape_configs.flatMap(({ job_name, scheme, tls_config, relabel_configs = [], dns_sd_configs }) => {
    const job = relabel_configs.find(({ target_label }) => target_label === 'job')?.replacement ?? job_name;
    const certificate = scheme === 'https' ? tls_config?.server_name : null;
    return dns_sd_configs.flatMap(({ names, port }) => names.map((name) => ({ name, port, job, certificate })));
  });
}

describe('Prometheus', () => {
  it('has all services in the job of the rules, whichever file it is started with', () => {
    const files = globSync('*.yaml', { cwd: join(ROOT, 'infra/prometheus') });
    assert.ok(files.length >= 3);
    for (const file of files) assert.deepEqual([...new Set(scrapedBy(file).map(({ job }) => job))], ['adsweep'], file);
  });

  it('scrapes the listeners that tls.yaml gives a certificate over TLS, by its name, and is started so there', () => {
    const plain = scrapedBy('prometheus.yaml');
    const expected = plain.map((one) => (one.port === 8084 ? one : { ...one, certificate: one.name }));
    const byName = (all: typeof plain) => all.toSorted((a, b) => a.name.localeCompare(b.name));
    assert.deepEqual(byName(scrapedBy('prometheus-tls.yaml')), byName(expected));
    const tls = read('infra/compose/tls.yaml');
    assert.match(tls, /\.\.\/prometheus\/prometheus-tls\.yaml:\/etc\/prometheus\/prometheus\.yaml:ro/);
    for (const { name, certificate } of expected) if (certificate) assert.match(tls, new RegExp(`for ${name}$`, 'm'));
  });
});

it('Prometheus of Compose finds the nodes that the scaler starts as OPERATIONS describes it, and may read their metrics', () => {
  const [, example = ''] = /```json\n(\{\n {2}"farm".*?)```/s.exec(read('infra/OPERATIONS.md')) ?? [];
  const { container } = JSON.parse(example) as ScalerExample;
  const { name, services } = load(read('infra/compose/compose.yaml')) as ComposeFile;
  const { environment, volumes } = services['browser-node'];
  const network = `${name}_nodes`;
  assert.equal(container.HostConfig.NetworkMode, network);
  assert.ok('nodes' in services.prometheus.networks);
  for (const file of ['prometheus.yaml', 'prometheus-roles.yaml', 'prometheus-tls.yaml']) {
    const nodes = scrapedBy(file).find(({ port }) => port === 8084);
    assert.deepEqual(container.NetworkingConfig.EndpointsConfig[network]?.Aliases, [nodes?.name], file);
  }
  assert.deepEqual(container.HostConfig.Binds, [`${name}_${volumes[0]}`]);
  for (const secret of ['ADSWEEP_NODE_TOKEN_FILE', 'ADSWEEP_METRICS_TOKEN_FILE'])
    assert.ok(container.Env.includes(`${secret}=${environment[secret]}`), secret);
});

type ScalerExample = {
  container: {
    Env: string[];
    NetworkingConfig: { EndpointsConfig: Record<string, { Aliases: string[] }> };
    HostConfig: { NetworkMode: string; Binds: string[] };
  };
};
type ComposeFile = {
  name: string;
  services: Record<
    'browser-node' | 'prometheus',
    { environment: Record<string, string>; networks: object; volumes: string[] }
  >;
};

describe('dashboards, rules and alerts', () => {
  it('name only metrics that a service has, or a rule records', () => {
    assert.ok(DECLARED.size > 60, `${DECLARED.size}`);
    const series = [...Object.keys(CALM_DAY), ...ALERTS.flatMap(({ test }) => Object.keys(test.fires))];
    for (const text of [...queries, ...series, ...[...RECORDINGS, ...ALERTS].map(({ expr }) => expr)])
      assert.deepEqual(unknownIn(text), [], text);
    assert.deepEqual(unknownIn('rate(adsweep_nothing_total[5m])'), ['adsweep_nothing_total']);
  });

  it('are the files that are kept', () => {
    for (const [path, text] of Object.entries(monitoringFiles()))
      assert.equal(read(`infra/${path}`), text, `node infra/monitoring/build.ts writes infra/${path}`);
  });

  it('have a section of OPERATIONS for each alert, and no other', () => {
    const [, alerts = ''] = /\n## Alerts\n(.*?)\n## /s.exec(read('infra/OPERATIONS.md')) ?? [];
    const sections = [...alerts.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(
      sections,
      ALERTS.map(({ alert }) => alert),
    );
  });

  it('use each recorded number', () => {
    const users = [...queries, ...[...RECORDINGS, ...ALERTS].map(({ expr }) => expr)].join('\n');
    for (const { record } of RECORDINGS) assert.ok(users.includes(record), record);
  });

  const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });
  const skip = promtool('--version').error && 'promtool is missing; Debian has it in the package prometheus';
  it('fire for their samples, are silent on a calm day, and can be parsed, by promtool', { skip }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const rules = join(ROOT, 'infra/prometheus/rules/adsweep.yaml');
    const run = promtool('test', 'rules', write('tests.yaml', promtoolTests(rules)));
    assert.equal(run.status, 0, run.stdout + run.stderr);
    const asRules = queries.map((expr, at) => `  - { record: "panel:${at}", expr: ${JSON.stringify(expr)} }`);
    const parsed = promtool(
      'check',
      'rules',
      write('panels.yaml', `groups: [{ name: panels, rules: [\n${asRules.join(',\n').replaceAll('  - ', '')}\n] }]\n`),
    );
    assert.equal(parsed.status, 0, parsed.stdout + parsed.stderr);
  });
});
