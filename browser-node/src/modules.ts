/**
 * The modules of this workspace, from the highest to the lowest: a module may import from those below it and from its
 * own line, never from one above. A path belongs to the first line that matches it. `infra/checks/import-directions.ts`
 * reads this table.
 */
export const modules: [name: string, ...paths: string[]][] = [
  ['process', 'main.ts', 'node/**'],
  ['leases', 'lease/**'],
  ['uploads', 'upload/**'],
  ['captures', 'capture/**'],
  ['metrics', 'metrics.ts'],
  ['browsers', 'browser/**'],
  ['foundations', '*.ts', 'machine/**'],
];
