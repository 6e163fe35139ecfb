import { CONTENT_TYPES } from '@adsweep/shared/capture/artifacts.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';

/** A picture as a file of the capture. */
export const pictureFile = (name: string, bytes: Buffer): CaptureFile => ({
  name,
  contentType: CONTENT_TYPES.jpeg,
  bytes,
  ...(jpegSize(bytes) ?? { width: 0, height: 0 }),
});
