/** What is in a file, which says how it is inspected: a WebP picture, or a JSON array as a gzip archive (RFC 1952). */
export type ArtifactFormat = 'webp' | 'gzipped_json';

/** The media type of each format. */
export const CONTENT_TYPES: Record<ArtifactFormat, string> = { webp: 'image/webp', gzipped_json: 'application/gzip' };

/**
 * A kind of file that a node may upload. `pattern`: its names, as the source of a regular expression without anchors; `lifetimeMs`: how
 * long it is kept once its capture is accepted, null = as long as its scan.
 */
export type ArtifactKind = { pattern: string; format: ArtifactFormat; lifetimeMs: number | null };
