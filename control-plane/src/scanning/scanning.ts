import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import type { AccountsDomain } from '../accounts/accounts.ts';
import type { Domain } from '../domain.ts';
import { QueueFull } from '../platform/bounded-queue.ts';
import type { Platform } from '../platform/platform.ts';
import type { ReferenceDomain } from '../reference/reference.ts';
import { cancelScan } from '../scan/cancel.ts';
import type { ScanRecord } from '../scan/scan.ts';
import type { ScanDomain } from '../scan/scan-domain.ts';
import type { PublicUrls } from '../scan/scan-links.ts';
import type { FoundFile, FoundPicture, PictureOf } from './artifacts/artifact.ts';
import { artifactStore } from './artifacts/artifact-store.ts';
import { messagePicture } from './artifacts/message-picture.ts';
import { PicturePool } from './artifacts/picture-pool.ts';
import { answerPicture, artifactRoutes } from './artifacts/routes.ts';
import { startSweeping } from './artifacts/start-sweeping.ts';
import { findDemoReport } from './reports/demo-report.ts';
import { reportRoutes } from './reports/routes.ts';
import type { ScanEvidence } from './scans/api/evidence.ts';
import { scanRoutes } from './scans/api/routes.ts';
import { scanCreation } from './scans/request/create-scans.ts';
import {
  type CampaignWordsOf,
  type FindCampaign,
  type IsRunCancelled,
  type JoinRun,
  wordsOfCampaign,
} from './scans/request/find-campaign.ts';
import type { Enqueue } from './scans/request/submit.ts';

/** What scanning needs from accounts, the catalogue and crawling. */
export type ScanningNeeds = Pick<ScanDomain['stores'], 'scans'> &
  Pick<ScanDomain['verbs'], 'watchScan'> &
  Pick<AccountsDomain['verbs'], 'priceOfCheck' | 'reserve' | 'requireAllowed' | 'isStillValid' | 'storedPerDay'> &
  Pick<ReferenceDomain['verbs'], 'readCatalogue' | 'tagWordsFor'> & {
    enqueue: Enqueue;
    unqueue: (scan: ScanRecord) => Promise<void>;
    /** The evidence in a scan's capture; empty before there is one. */
    evidenceOf: (scan: ScanRecord) => Promise<ScanEvidence>;
    findPicture: (scan: ScanRecord, of: PictureOf) => Promise<FoundPicture | null>;
    findFile: (scan: ScanRecord, name: string) => Promise<FoundFile | null>;
    findCampaign: FindCampaign;
    joinRun: JoinRun;
    isRunCancelled: IsRunCancelled;
    campaignWordsOf: CampaignWordsOf;
    campaignsInGroup: (organizationId: string, groupId: string) => Promise<string[]>;
    /** Throws 403 if the organization may recheck nothing. */
    requireRecheckable: (organizationId: string) => Promise<unknown>;
  };

export type ScanningSettings = PublicUrls & {
  /** The addresses that targets and referrers may have. */
  addresses: AddressPolicy;
  /** The data folder, to which a start with the demo writes the path of its report. */
  dataDir: string;
};

export type ScanningDomain = ReturnType<typeof scanningDomain>;

/** Creating and reading scans, the files that belong to them, and public reports. */
export function scanningDomain(
  { store, objects, redis, wake, metrics, closing, logger }: Platform,
  needs: ScanningNeeds,
  { publicUrl, hasConsole, addresses, dataDir }: ScanningSettings,
) {
  const { scans, evidenceOf, findPicture, findFile, tagWordsFor } = needs;
  const artifacts = artifactStore(store, objects);
  const pictures = new PicturePool();
  const outboxFilled = () => wake.announce('scan-outbox');
  const creation = scanCreation({
    ...needs,
    addresses,
    outboxFilled,
    log: logger,
    submitted: () => metrics.submitted.inc(),
    cancel: (scan) => cancelScan({ ...needs, outboxFilled, log: logger }, scan, new Date()),
  });
  const scanParts = {
    ...needs,
    creation,
    urls: { publicUrl, hasConsole },
    closing,
    outboxFilled,
    log: logger,
    readEvidence: evidenceOf,
    analysisWaiting: () => wake.announce('checks'),
  };
  const pictureForMessage = (scan: ScanRecord) => messagePicture({ findPicture, pictures, logger }, scan);
  const ownArtifacts = {
    findPicture: async (organizationId: string, scanId: string, of: PictureOf) => {
      const scan = await scans.find(organizationId, scanId);
      return scan && findPicture(scan, of);
    },
    findFile: async (organizationId: string, scanId: string, name: string) => {
      const scan = await scans.find(organizationId, scanId);
      return scan && findFile(scan, name);
    },
  };
  return {
    stores: { artifacts },
    routes: {
      api: [
        ...scanRoutes(scanParts),
        ...artifactRoutes(ownArtifacts, pictures),
        ...reportRoutes({
          publicUrl,
          readHome: async () => ({ demoReport: await findDemoReport(dataDir), hasConsole, publicUrl }),
          findByReportToken: scans.findByReportToken,
          ownerOfReport: scans.ownerOfReport,
          find: scans.find,
          discoveredBy: scans.discoveredBy,
          evidenceOf,
          answerPicture: async (scan, of, size, request) =>
            answerPicture(pictures, await findPicture(scan, of), size, request),
          campaignNameOf: async ({ organization_id, campaign_id }) =>
            (await wordsOfCampaign(needs.campaignWordsOf, organization_id, campaign_id))?.name ?? null,
          pictureForMessage,
          tagWordsFor: ({ organization_id }) => tagWordsFor(organization_id),
        }),
      ],
    },
    loops: {
      /** Ends the process that resizes pictures, which the first request for a resized picture starts. */
      api: () => [{ stop: () => pictures.close() }],
      dispatcher: () => [{ stop: () => pictures.close() }],
      sweeper: () => [startSweeping({ store, objects, redis, artifacts, logger })],
    },
    outboxHandlers: {},
    verbs: {
      ...creation,
      /** The picture of a scan for a message, as a JPEG; null: there is none, or too many are being resized. */
      pictureForMessage: async (organizationId: string, scanId: string) => {
        const scan = await scans.find(organizationId, scanId);
        return scan && pictureForMessage(scan).catch(nullIfFull);
      },
    },
  } satisfies Domain;
}

/** The value for a message that is not worth waiting for a picture. */
function nullIfFull(cause: unknown): null {
  if (cause instanceof QueueFull) return null;
  throw cause;
}
