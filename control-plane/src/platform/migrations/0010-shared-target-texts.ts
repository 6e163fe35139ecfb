import type { Migration } from './migration.ts';

/**
 * The scans of a request share the text of their target. What earlier versions stored stays as it is. The version
 * changes because an earlier one must not open the store again: it would remove the shared texts, as no scan has their
 * ids.
 */
export const sharedTargetTexts: Migration = {
  version: 10,
  name: 'shared target texts',
  run: async () => {},
};
