import type { ScanRecord } from '../../src/scan/scan.ts';
import { buildReport } from '../../src/scanning/reports/build-report.ts';
import type { Report, SeenEvidence, SeenLanding } from '../../src/scanning/reports/report.ts';
import { reportDocument, reportParts } from '../../src/scanning/reports/report-page.ts';
import { sampleEvidence, sampleLanding, sampleScan, sampleTagWords } from './sample-scan.ts';

export const ASSETS = { stylesheet: 'assets/report.css', icon: 'assets/icon.svg' };

/** The page of a report that does not renew itself, as HTML. */
export function reportPage(report: Report): string {
  const parts = reportParts(report, false).map((draw) => draw());
  return reportDocument(report, ASSETS, parts);
}

/** The report page of a finished scan with these changes and landings, as HTML. */
export const render = (changes: Partial<ScanRecord> = {}, landings: SeenLanding[] = [sampleLanding(0)]): string =>
  renderEvidence(changes, sampleEvidence(landings));

/** The same with all that a capture tells. */
export const renderEvidence = (changes: Partial<ScanRecord>, evidence: SeenEvidence): string =>
  reportPage(buildReport(sampleScan(changes), evidence, sampleTagWords));

/** Every tag of a document with its attributes, as a tokenizer sees them. */
export const tagsOf = (page: string): string[] => [...page.matchAll(/<[a-z!][^>]*>/gi)].map(([tag]) => tag);
