import type { TargetKind } from '../../scan/target.ts';

/** What is in a file, which says how it is inspected: a picture, a JSON array as a gzip archive (RFC 1952), UTF-8 text, or a media file of any kind. */
export type ArtifactFormat = PictureFormat | 'gzipped_json' | 'text' | 'media';
export type PictureFormat = 'jpeg' | 'webp';

/** The media type of each format. */
export const CONTENT_TYPES: Record<ArtifactFormat, string> = {
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gzipped_json: 'application/gzip',
  text: 'text/plain; charset=utf-8',
  media: 'application/octet-stream',
};

export const isPicture = (format: ArtifactFormat): format is PictureFormat => format === 'jpeg' || format === 'webp';

/**
 * A kind of file that a node may upload. `pattern`: its names, as the source of a regular expression without anchors; `lifetimeMs`: how
 * long it is kept once its capture is accepted, null = as long as its scan; `targets`: the kinds of target whose scans can have one (spec
 * 4.3), absent = all.
 */
export type ArtifactKind = {
  pattern: string;
  format: ArtifactFormat;
  lifetimeMs: number | null;
  targets?: readonly TargetKind[];
};
