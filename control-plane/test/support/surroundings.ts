import { gzipSync } from 'node:zlib';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import type { CountRequest } from '../../src/accounts/rate-limit/limit-requests.ts';
import type { EvidenceSources } from '../../src/analysis/evidence/packed-scan.ts';
import type { RuleTestParts } from '../../src/analysis/rules/rule-tests/test-rules.ts';
import type { AnalysisThreads } from '../../src/analysis/threads/analysis-threads.ts';
import type { FleetVerbs } from '../../src/crawling/fleet/fleet-routes.ts';
import type { QueueLoad } from '../../src/crawling/queue/read-depth.ts';
import type { ReadyCheck } from '../../src/http/probes.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import type { ArtifactSource } from '../../src/scanning/artifacts/routes.ts';
import { NO_SCAN_EVIDENCE, type ScanEvidence } from '../../src/scanning/scans/api/evidence.ts';
import type { FindTagWords } from '../../src/scanning/scans/api/present-tag.ts';
import { type FindCampaign, findNoCampaign } from '../../src/scanning/scans/request/find-campaign.ts';

/** What stands around the API in a test; each may be replaced while it runs. */
export type Surroundings = {
  catalogue: Catalogue | null;
  evidence: ScanEvidence;
  picture: ArtifactSource['openPicture'];
  file: ArtifactSource['findFile'];
  enqueue: (scans: ScanRecord[]) => Promise<void>;
  tagWordsFor: (organizationId: string) => Promise<FindTagWords>;
  /** What a rule test finds of a scan: by the id of its capture. */
  captures: Map<string, Capture>;
  findTestedScan: RuleTestParts['findScan'];
  ruleTestLimits: RuleTestParts['limits'];
  problemsOf: AnalysisThreads['problemsOf'];
  model: RuleTestParts['model'];
  readyChecks: ReadyCheck[];
  findCampaign: FindCampaign;
  demoReport: string | null;
  countRequest: CountRequest;
  fleet: (verb: 'block' | 'unblock' | 'drain' | 'undrain', nodeId: string) => Promise<void>;
  readFleet: FleetVerbs['readFleet'];
  load: QueueLoad;
};

/** Nothing was captured, nothing is limited, no node is there, and `enqueued` has the scans that were put into the queue. */
export function emptySurroundings(
  catalogue: Catalogue,
  enqueued: ScanRecord[],
  findScan: RuleTestParts['findScan'],
  problemsOf: AnalysisThreads['problemsOf'],
): Surroundings {
  return {
    catalogue,
    evidence: NO_SCAN_EVIDENCE,
    picture: async () => null,
    file: async () => null,
    enqueue: async (scans) => void enqueued.push(...scans),
    tagWordsFor: async () => (slug) =>
      slug === 'archived' ? null : { display_name: slug.toUpperCase(), category: 'behavior', severity: 'medium' },
    captures: new Map(),
    findTestedScan: findScan,
    ruleTestLimits: { ruleMs: 2_000, batchMs: 110_000 },
    problemsOf,
    model: null,
    readyChecks: [],
    findCampaign: findNoCampaign,
    demoReport: null,
    countRequest: async () => null,
    fleet: async () => {},
    readFleet: async () => ({ nodes: [], marks: { blocked: new Set(), draining: new Set() } }),
    load: { waiting: { 0: 0, 1: 0, 2: 0 }, capped: 0, delayed: 0, leased: 0 },
  };
}

/** Captures without contents, as they are after a day. */
export const packedSources = ({ captures }: Surroundings): EvidenceSources => ({
  readPackedCapture: async ({ capture }) => {
    const found = capture && (await captures.get(capture.id));
    return found ? gzipSync(JSON.stringify(found)) : null;
  },
  bodies: { packed: async () => null, unpackedBytesMax: 1_000_000 },
});
