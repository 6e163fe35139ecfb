import type { CrawlingDomain } from '../crawling/crawling.ts';
import type { ScanStore } from '../scan/scan-store.ts';
import type { ArtifactSource } from '../scanning/artifacts/routes.ts';

/** The artifacts of an organization's own scans. */
export function artifactSource(
  scans: Pick<ScanStore, 'find'>,
  crawling: Pick<CrawlingDomain, 'openPicture' | 'findFile'>,
): ArtifactSource {
  return {
    openPicture: async (organizationId, scanId, of) => {
      const scan = await scans.find(organizationId, scanId);
      return scan && crawling.openPicture(scan, of);
    },
    findFile: async (organizationId, scanId, name) => {
      const scan = await scans.find(organizationId, scanId);
      return scan && crawling.findFile(scan, name);
    },
  };
}
