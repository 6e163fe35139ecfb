import { type Static, Type } from 'typebox';
import { ARTIFACT_NAME } from './artifacts/index.ts';
import { Count, OPEN } from './count.ts';

/** The most bytes one artifact may have. */
export const ARTIFACT_BYTES_MAX = 32 * 1024 * 1024;

/** A stored file of a scan: its hash in hex and size in bytes; `width` and `height` in pixels, 0 where it is no picture. */
export const ArtifactSchema = Type.Object(
  {
    name: Type.String({ pattern: ARTIFACT_NAME }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    bytes: Type.Integer({ minimum: 0, maximum: ARTIFACT_BYTES_MAX }),
    content_type: Type.String({ maxLength: 100 }),
    width: Count,
    height: Count,
  },
  OPEN,
);
export type Artifact = Static<typeof ArtifactSchema>;
