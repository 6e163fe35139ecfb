/**
 * The modules of this workspace, from the highest to the lowest: a module may import from those below it and from its
 * own line, never from one above. A path belongs to the first line that matches it. `infra/checks/import-directions.ts`
 * reads this table.
 */
export const modules: [name: string, ...paths: string[]][] = [
  ['lease protocol', 'lease/**'],
  ['what services exchange', '{capture,events,scan,targeting}/**'],
  ['tracing', 'tracing/**'],
  ['running a service', 'service/**'],
  ['requests to clients', 'egress/**'],
  ['foundations', '{ads,urls,validation,vast}/**', '*.ts'],
];
