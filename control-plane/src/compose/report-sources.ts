import { findTagDefinition } from '../reference/tags/tag-definitions.ts';
import type { PicturePool } from '../scanning/artifacts/picture-pool.ts';
import { answerPicture } from '../scanning/artifacts/routes.ts';
import type { ReportSources } from '../scanning/reports/routes.ts';
import type { ScanStore } from '../scanning/scans/state/scan-store.ts';
import type { Farm } from './farm.ts';

/** What public reports ask of the scans, their captures and the tags. */
export function reportSources(
  scans: Pick<ScanStore, 'findByReportToken'>,
  farm: Pick<Farm, 'landingsOf' | 'openScreenshot'>,
  pictures: PicturePool,
): ReportSources {
  return {
    findByReportToken: (token) => scans.findByReportToken(token),
    landingsOf: (scan) => farm.landingsOf(scan),
    answerScreenshot: async (scan, ord, width, request) =>
      answerPicture(pictures, await farm.openScreenshot(scan, ord), width, request),
    tagWordsFor: async () => findTagDefinition,
  };
}
