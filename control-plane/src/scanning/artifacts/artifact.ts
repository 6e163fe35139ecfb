import type { Readable } from 'node:stream';
import type { ByteRange } from '../../platform/objects/object-store.ts';

/** An attempt of a scan, identified by the fence of its lease. */
export type AttemptRef = { scanId: string; fence: number };

/** The folder of an attempt's uploads in the object store. */
export const folderOf = ({ scanId, fence }: AttemptRef): string => `scans/${scanId}/${fence}`;

/**
 * A stored file of a scan; its bytes are in the object store under the key `object`. `width` and `height` in pixels, as
 * measured by the control plane; 0 if the file is not a picture. `kept`: an accepted capture names the file, so it must
 * not be replaced. `expires_at` null: never.
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
 * A stored file that is not open yet. `read` opens it, or a part of it; null if it was removed in the meantime. The
 * caller must read or destroy the stream.
 */
export type FoundFile = Pick<ArtifactRecord, 'sha256' | 'bytes' | 'content_type' | 'width' | 'height'> & {
  read(range?: ByteRange): Promise<Readable | null>;
};

/** A picture of an organization, with its size in pixels. */
export type FoundPicture = FoundFile & { organizationId: string };

/**
 * The subject of a picture: the page, the creative, the companion with this index, or the landing with this ordinal.
 */
export type PictureOf = 'page' | 'creative' | `companion ${number}` | number;

/** An upload that is not a valid artifact. `reason` is reported to the node. */
export class ArtifactRefused extends Error {
  readonly tooLarge: boolean;

  constructor(reason: string, tooLarge = false) {
    super(reason);
    this.tooLarge = tooLarge;
  }
}

/** An upload ended after its attempt had been accepted with another file of this name. */
export class ArtifactKept extends Error {}
