import { artifactKindOf, isPicture } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { scannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import type { JobLimits } from '@adsweep/shared/lease/job-limits.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { ArtifactRecord } from '../../scanning/artifacts/artifact.ts';

const OTHER_ARTIFACT = 'Another artifact was uploaded under this name.';

/**
 * Issues of a capture beyond its schema: it names artifacts that were not uploaded under this lease, or contradicts
 * itself or its scan. Empty if it is consistent.
 */
export function checkCapture(
  capture: Capture,
  scan: CheckedScan,
  uploads: ArtifactRecord[],
  limits: Pick<JobLimits, 'landings'>,
): Issue[] {
  return [...partIssues(capture, scan), ...artifactIssues(capture, uploads), ...landingIssues(capture, limits)];
}

type CheckedScan = Pick<ScanRecord, 'target' | 'discovery' | 'ad_block'>;

/** Only an ad has a creative, only a VAST tag has wrappers and trackers (spec 2.1), and only a sweep has ad blocks. */
function partIssues({ creative, vast, ad_blocks }: Capture, scan: CheckedScan): Issue[] {
  const kind = scannedKind(scan);
  return [
    ...(creative && kind === 'url' ? [issue(['creative'], 'A page scan has no creative.')] : []),
    ...(vast && kind !== 'vast_tag' ? [issue(['vast'], 'Only the scan of a VAST tag has this.')] : []),
    ...(ad_blocks && !scan.discovery ? [issue(['ad_blocks'], 'Only a sweep has this.')] : []),
  ];
}

function artifactIssues({ artifacts }: Capture, uploads: ArtifactRecord[]): Issue[] {
  const uploaded = new Map(uploads.map((upload) => [upload.name, upload]));
  const names = artifacts.map(({ name }) => name);
  return artifacts.flatMap(({ name, sha256, bytes }, at) => {
    const upload = uploaded.get(name);
    if (names.indexOf(name) !== at) return [issue(['artifacts', at, 'name'], 'The artifact is named twice.')];
    if (!upload) return [issue(['artifacts', at, 'name'], 'No such artifact was uploaded under this lease.')];
    const same = upload.sha256 === sha256 && upload.bytes === bytes;
    return same ? [] : [issue(['artifacts', at, 'sha256'], OTHER_ARTIFACT)];
  });
}

/** The issue for an upload that was replaced while its capture was being accepted. */
export const replacedMeanwhile = (): Issue => issue(['artifacts'], OTHER_ARTIFACT);

/** The issue for a file that was sent with a capture that does not name it. */
export const unnamedFile = (): Issue => issue(['artifacts'], 'A file was sent that is not among the artifacts.');

function landingIssues(
  { landings, artifacts }: Capture,
  { landings: landingsMax }: Pick<JobLimits, 'landings'>,
): Issue[] {
  if (landings.length > landingsMax) return [issue(['landings'], `There are more than ${landingsMax} landings.`)];
  const pictures = new Set(artifacts.map(({ name }) => name).filter(isPictureName));
  const ords = landings.map(({ ord }) => ord);
  return landings.flatMap(({ ord, screenshot }, at) => {
    const issues: Issue[] = [];
    if (ords.indexOf(ord) !== at) issues.push(issue(['landings', at, 'ord'], 'Another landing has this ordinal.'));
    if (screenshot !== null && !pictures.has(screenshot))
      issues.push(issue(['landings', at, 'screenshot'], 'The screenshot must be a picture among the artifacts.'));
    return issues;
  });
}

function isPictureName(name: string): boolean {
  const kind = artifactKindOf(name);
  return kind !== undefined && isPicture(kind.format);
}

function issue(loc: (string | number)[], msg: string): Issue {
  return { loc: ['body', 'capture', ...loc], msg, type: 'capture_mismatch', ctx: {} };
}
