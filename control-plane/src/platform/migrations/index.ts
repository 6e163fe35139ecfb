import { eventsInSequence } from './0001-events-in-sequence.ts';
import { ledgerInSequence } from './0002-ledger-in-sequence.ts';
import { scansInJobs } from './0003-scans-in-jobs.ts';
import { scansByFilter } from './0004-scans-by-filter.ts';
import { targetsApart } from './0005-targets-apart.ts';
import { operatorsKey } from './0006-operators-key.ts';
import { listsWithUrls } from './0007-lists-with-urls.ts';
import { allowances } from './0008-allowances.ts';
import { outboxesOfOrganizations } from './0009-outboxes-of-organizations.ts';
import { sharedTargetTexts } from './0010-shared-target-texts.ts';
import { endpointsWithoutSlots } from './0011-endpoints-without-slots.ts';
import { analysisInTurns } from './0012-analysis-in-turns.ts';
import type { Migration } from './migration.ts';

/**
 * All migrations, oldest first. The version of the last one is the version of the store that this code reads and
 * writes.
 */
export const MIGRATIONS: Migration[] = [
  eventsInSequence,
  ledgerInSequence,
  scansInJobs,
  scansByFilter,
  targetsApart,
  operatorsKey,
  listsWithUrls,
  allowances,
  outboxesOfOrganizations,
  sharedTargetTexts,
  endpointsWithoutSlots,
  analysisInTurns,
];
