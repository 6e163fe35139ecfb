import type { FarmArtifacts } from '../../scanning/artifacts/farm-artifacts.ts';
import type { ScanRecord } from '../../scanning/scans/state/scan.ts';
import { attemptOf } from './capture-record.ts';
import type { ReadCapture } from './read-capture.ts';

/** The picture of a scan's landing `ord` as it was taken; null where there is none. Whoever opens it reads or destroys the stream. */
export async function openScreenshot(
  readCapture: ReadCapture,
  artifacts: Pick<FarmArtifacts, 'open'>,
  scan: Pick<ScanRecord, 'capture'>,
  ord: number,
) {
  const record = await readCapture(scan);
  const landing = record?.capture.landings.find((one) => one.ord === ord);
  return record && landing?.screenshot ? artifacts.open(attemptOf(record._id), landing.screenshot) : null;
}
