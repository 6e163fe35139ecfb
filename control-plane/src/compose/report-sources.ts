import type { CrawlingDomain } from '../crawling/crawling.ts';
import { inService, type ReadTags } from '../reference/tags/tag-definitions.ts';
import type { ScanStore } from '../scan/scan-store.ts';
import type { PicturePool } from '../scanning/artifacts/picture-pool.ts';
import { answerPicture, wantedSize } from '../scanning/artifacts/routes.ts';
import type { ReportSources } from '../scanning/reports/routes.ts';
import { findDemoReport } from './demo-report.ts';

/** What public reports ask of the scans, their captures and the tags. */
export function reportSources(
  scans: Pick<ScanStore, 'findByReportToken'>,
  crawling: Pick<CrawlingDomain, 'evidenceOf' | 'openPicture'>,
  readTags: ReadTags,
  pictures: PicturePool,
  dataDir: string,
  publicUrl: string,
): ReportSources {
  return {
    publicUrl,
    findDemoReport: () => findDemoReport(dataDir),
    findByReportToken: (token) => scans.findByReportToken(token),
    evidenceOf: (scan) => crawling.evidenceOf(scan),
    answerPicture: async (scan, of, width, request) =>
      answerPicture(pictures, await crawling.openPicture(scan, of), wantedSize(width, of), request),
    tagWordsFor: async ({ organization_id }) => {
      const known = await readTags(organization_id);
      return (slug) => inService(known, slug);
    },
  };
}
