import { type Static, Type } from 'typebox';
import { Count, OPEN } from './count.ts';

/** Names a node may upload under, and what each holds. `<ord>` is a landing's ordinal. */
export const ARTIFACT_NAME = '^(landing-[0-9]{1,3}\\.webp|documents\\.json\\.gz|bodies\\.json\\.gz)$';

/** The most bytes one artifact may have. */
export const ARTIFACT_BYTES_MAX = 32 * 1024 * 1024;

/** Name of a landing's screenshot; landing 0 is the page's own. */
export const landingScreenshot = (ord: number): string => `landing-${ord}.webp`;

/** What landings said and showed, kept with the scan: gzipped JSON, an array of {@link CapturedDocument}. */
export const DOCUMENTS = 'documents.json.gz';
/** Contents of sub-resources, kept for a day: gzipped JSON, an array of {@link CapturedBody}. */
export const BODIES = 'bodies.json.gz';

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

/** A document as it stood at the end: the landing's own (`frame` '') or that of one of its frames. */
export type CapturedDocument = {
  landing: number;
  frame: string;
  url: string;
  title: string;
  text: string;
  html: string;
};

/** A script, fetch/XHR response or iframe document. An oversize one has its URL and no text (spec 8). */
export type CapturedBody = {
  url: string;
  resource_type: string;
  content_type: string;
  bytes: number;
  text: string | null;
};
