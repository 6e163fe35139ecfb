/**
 * The modules of this workspace, from the highest to the lowest: a module may import from those below it and from its
 * own line, never from one above. A path belongs to the first line that matches it. `infra/checks/import-directions.ts`
 * reads this table.
 */
export const modules: [name: string, ...paths: string[]][] = [
  ['the process', 'main.ts', '{compose,commands}/**'],
  ['the console', 'console/**'],
  ['delivery', 'delivery/**'],
  ['analysis', 'analysis/**'],
  ['node API', 'crawling/{node-api/**,*.ts}'],
  ['leases', 'crawling/leases/**'],
  ['scaler, plan', 'crawling/{scaler,plan}/**'],
  ['captures, fleet, retention', 'crawling/{captures,fleet,retention}/**'],
  ['queue', 'crawling/queue/**'],
  ['reports', 'scanning/{reports/**,*.ts}'],
  ['scanning', 'scanning/**'],
  ['the scan', 'scan/**'],
  ['forms', 'forms/**'],
  ['accounts and reference', '{accounts,reference}/**'],
  ['foundations', '{http,platform}/**', 'config.ts', 'metrics.ts', 'domain.ts'],
];
