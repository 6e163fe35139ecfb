import type { Readable } from 'node:stream';
import type { ByteRange } from '../../platform/object-store.ts';

/** The attempt whose node uploads: each lease writes under its own fence. */
export type AttemptRef = { scanId: string; fence: number };

/** Where the object store has what an attempt uploaded. */
export const folderOf = ({ scanId, fence }: AttemptRef): string => `scans/${scanId}/${fence}`;

/**
 * A stored file of a scan; its bytes are under the key `object`. `width` and `height` in pixels as measured by us, 0 where it is no
 * picture. `kept`: an accepted capture names it, nothing may replace it. `expires_at` null: it stays.
 */
export type ArtifactRecord = {
  _id: string;
  object: string;
  kept: boolean;
  scan_id: string;
  fence: number;
  name: string;
  sha256: string;
  bytes: number;
  content_type: string;
  width: number;
  height: number;
  expires_at: Date | null;
};

/**
 * A stored file that was not opened yet. `read` opens it, or a part of it; null where it was removed meanwhile. Whoever opens it reads or
 * destroys the stream.
 */
export type FoundFile = Pick<ArtifactRecord, 'sha256' | 'bytes' | 'content_type'> & {
  read(range?: ByteRange): Promise<Readable | null>;
};

/** The subject of a picture: the page, the creative, the companion in a place, or the landing with this ordinal. */
export type PictureOf = 'page' | 'creative' | `companion ${number}` | number;

/** An upload that is not a valid artifact: `reason` is for the node that sent it. */
export class ArtifactRefused extends Error {
  readonly tooLarge: boolean;

  constructor(reason: string, tooLarge = false) {
    super(reason);
    this.tooLarge = tooLarge;
  }
}

/** An upload came to its end after its attempt was accepted with another file of this name. */
export class ArtifactKept extends Error {}
