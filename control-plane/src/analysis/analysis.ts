import type { CrawlingDomain } from '../crawling/crawling.ts';
import type { Platform } from '../platform/platform.ts';
import type { ReferenceDomain } from '../reference/reference.ts';
import type { ScanningDomain } from '../scanning/scanning.ts';
import { startWorker, type WorkerDependencies } from './pipeline/worker.ts';

/** Judging what was captured. */
export function analysisDomain(
  { wake, metrics, logger }: Platform,
  { readTags }: Pick<ReferenceDomain, 'readTags'>,
  { scans }: Pick<ScanningDomain, 'scans'>,
  { dependencies: { readCapture, bodies } }: Pick<CrawlingDomain, 'dependencies'>,
) {
  const outboxFilled = () => wake.announce('outbox');
  const dependencies: WorkerDependencies = { scans, readTags, readCapture, bodies, metrics, logger, outboxFilled };
  return { dependencies, loops: { checks: () => [startWorker(dependencies, wake.signal('checks'))] } };
}
