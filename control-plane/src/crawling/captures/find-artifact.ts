import {
  artifactKindOf,
  CREATIVE_SCREENSHOT,
  companionScreenshot,
  PAGE_SCREENSHOT,
} from '@adsweep/shared/capture/artifacts.ts';
import { SUBJECT_ORD } from '@adsweep/shared/capture/capture.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { FoundPicture, PictureOf } from '../../scanning/artifacts/artifact.ts';
import type { ScanningDomain } from '../../scanning/scanning.ts';
import { attemptOf, type CaptureRecord, type ReadCapture } from './capture-record.ts';

type Artifacts = Pick<ScanningDomain['stores']['artifacts'], 'find'>;
type Scan = Pick<ScanRecord, 'organization_id' | 'capture'>;

/** Finds a screenshot of a scan, in its original size; null if there is none. */
export async function findPicture(
  readCapture: ReadCapture,
  artifacts: Artifacts,
  scan: Scan,
  of: PictureOf,
): Promise<FoundPicture | null> {
  const record = await readCapture(scan);
  const name = record && pictureName(record, of);
  const found = name ? await artifacts.find(attemptOf(record._id), name) : null;
  return found && { ...found, organizationId: scan.organization_id };
}

/** Finds a file of a scan by name; null if there is none. */
export async function findFile(readCapture: ReadCapture, artifacts: Artifacts, scan: Scan, name: string) {
  const record = await readCapture(scan);
  const file = record && has(record, name) ? await artifacts.find(attemptOf(record._id), name) : null;
  return record && file && { ...file, content_type: sentTypeOf(record, name) ?? file.content_type };
}

/**
 * The content type that the server of a media file sent; null for other files, whose type is determined by their kind.
 */
function sentTypeOf({ capture }: Pick<CaptureRecord, 'capture'>, name: string): string | null {
  if (artifactKindOf(name)?.format !== 'media') return null;
  return capture.artifacts.find((artifact) => artifact.name === name)?.content_type ?? null;
}

/**
 * The name of the artifact with this screenshot; null if there is none. The page of an ad is the page around it, if the
 * node took a picture of that: always for an ad on a page, and for a tag if no click navigated. Otherwise it is the
 * first landing. Pure.
 */
export function pictureName(record: Pick<CaptureRecord, 'capture' | 'artifacts'>, of: PictureOf): string | null {
  if (of === 'creative') return has(record, CREATIVE_SCREENSHOT) ? CREATIVE_SCREENSHOT : null;
  if (typeof of === 'string' && of !== 'page') {
    const name = companionScreenshot(Number(of.replace('companion ', '')));
    return has(record, name) ? name : null;
  }
  if (of === 'page' && has(record, PAGE_SCREENSHOT)) return PAGE_SCREENSHOT;
  const ord = of === 'page' ? SUBJECT_ORD : of;
  return record.capture.landings.find((one) => one.ord === ord)?.screenshot ?? null;
}

const has = ({ artifacts }: Pick<CaptureRecord, 'artifacts'>, name: string): boolean =>
  artifacts.some((artifact) => artifact.name === name);
