import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { BODY_LIFETIME_MS } from '../limits.ts';
import { Count, OPEN, Text } from './fields.ts';
import type { ScannedKind } from './scanned-kind.ts';

/**
 * How a file is inspected: as an image, as gzipped JSON (RFC 1952) with an array of {@link CapturedItems} in it, as
 * UTF-8 text, or as a media file of any kind.
 */
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

/** Name of the screenshot of the landing with ordinal `ord`. */
export const landingScreenshot = (ord: number): string => `landing-${ord}.jpeg`;

/**
 * The screenshot of the page that hosts a creative: of an ad on a page, the part of the page around it; of a tag, only
 * where no click opened a landing.
 */
export const PAGE_SCREENSHOT = 'page.jpeg';

/** The screenshot of a creative; of a VAST tag, a frame of its video. */
export const CREATIVE_SCREENSHOT = 'creative.jpeg';

/** The HTML of a creative as it was rendered, in UTF-8. Videos have none. */
export const CREATIVE_HTML = 'creative.html';

/** The media file of a VAST ad as its server sent it; its content type is in the capture. */
export const CREATIVE_VIDEO = 'creative-video';

/** The inline document of a VAST tag with its wrappers merged in, in UTF-8. */
export const VAST_XML = 'vast.xml';

/** The documents of a VAST tag as their servers sent them: an array of {@link CapturedVastDocument}. */
export const VAST_DOCUMENTS = 'vast-documents.json.gz';

/** `rung`: the index of the document in the capture's wrapper chain. */
const CapturedVastDocumentSchema = Type.Object({ rung: Count, text: Type.String() }, OPEN);
export type CapturedVastDocument = Static<typeof CapturedVastDocumentSchema>;

/** Name of the screenshot of the companion with index `at`. */
export const companionScreenshot = (at: number): string => `companion-${at}.jpeg`;

/** The text and HTML of landings, kept with the scan: an array of {@link CapturedDocument}. */
export const DOCUMENTS = 'documents.json.gz';

/**
 * A document as it was at the end of the capture: the landing's own (`frame` '') or that of one of its frames; once
 * more if it changed when it learned that its visitor had used it. Its text begins with what is in the viewport, then
 * has what is elsewhere on the page, and last what no visitor sees: `viewport_length`, `page_length`: where these parts
 * end, in characters; absent: not known. `landing` null: a document in the creative of an ad on a page.
 */
const CapturedDocumentSchema = Type.Object(
  {
    landing: Type.Union([Count, Type.Null()]),
    frame: Text,
    url: Text,
    title: Text,
    text: Type.String(),
    html: Type.String(),
    viewport_length: Type.Optional(Count),
    page_length: Type.Optional(Count),
  },
  OPEN,
);
export type CapturedDocument = Static<typeof CapturedDocumentSchema>;

/** Contents of sub-resources, kept for a day: an array of {@link CapturedBody}. */
export const BODIES = 'bodies.json.gz';

/**
 * A script, fetch/XHR response or iframe document. An oversize one has its URL and no text (spec 8). `excerpts`: the
 * parts of a script without text that have markers (`SCRIPT_MARKERS`); of a document, such script elements, as it was
 * sent. Rules do not search them.
 */
const CapturedBodySchema = Type.Object(
  {
    url: Text,
    resource_type: Text,
    content_type: Text,
    bytes: Count,
    text: Type.Union([Type.String(), Type.Null()]),
    excerpts: Type.Optional(Type.String()),
  },
  OPEN,
);
export type CapturedBody = Static<typeof CapturedBodySchema>;

/**
 * Files with JSON, and their items. Fields that this version does not know may be strings, numbers, booleans or null.
 */
export type CapturedItems = {
  [DOCUMENTS]: CapturedDocument;
  [BODIES]: CapturedBody;
  [VAST_DOCUMENTS]: CapturedVastDocument;
};
const ITEM_SCHEMAS = {
  [DOCUMENTS]: Compile(CapturedDocumentSchema),
  [BODIES]: Compile(CapturedBodySchema),
  [VAST_DOCUMENTS]: Compile(CapturedVastDocumentSchema),
};

/** The largest file with JSON that is read: its items, and for each item its bytes and fields. */
export const CAPTURED_ITEMS_BOUNDS = { itemsMax: 5_000, itemBytesMax: 8 * 1024 * 1024, fieldsMax: OPEN.maxProperties };

/** Whether `item` may be in the file with JSON called `name`. */
export const isItemOf =
  <Name extends keyof CapturedItems>(name: Name) =>
  (item: unknown): item is CapturedItems[Name] =>
    ITEM_SCHEMAS[name].Check(item);

/** Whether this is the name of a file with JSON. */
export const hasItems = (name: string): name is keyof CapturedItems => Object.hasOwn(ITEM_SCHEMAS, name);

/**
 * A kind of file that a node may upload. `pattern`: its names, as the source of a regular expression without anchors;
 * `lifetimeMs`: how long it is kept once its capture is accepted, null = as long as its scan; `of`: the scans that can
 * have one (spec 4.3), absent = all.
 */
type ArtifactKind = {
  pattern: string;
  format: ArtifactFormat;
  lifetimeMs: number | null;
  of?: readonly ScannedKind[];
};

/**
 * Every kind of file that a node may upload. Landings are JPEG, which costs a browser half of what WebP does (clients
 * get WebP, encoded on request); version 0.1 stored them as WebP.
 */
const ARTIFACT_KINDS: readonly ArtifactKind[] = [
  { pattern: 'landing-[0-9]{1,3}\\.jpeg', format: 'jpeg', lifetimeMs: null },
  { pattern: 'landing-[0-9]{1,3}\\.webp', format: 'webp', lifetimeMs: null },
  { pattern: 'page\\.jpeg', format: 'jpeg', lifetimeMs: null, of: ['ad_tag', 'vast_tag', 'banner', 'video'] },
  { pattern: 'creative\\.jpeg', format: 'jpeg', lifetimeMs: null, of: ['ad_tag', 'vast_tag', 'banner', 'video'] },
  { pattern: 'creative\\.html', format: 'text', lifetimeMs: null, of: ['ad_tag', 'banner'] },
  { pattern: 'creative-video', format: 'media', lifetimeMs: null, of: ['vast_tag'] },
  { pattern: 'vast\\.xml', format: 'text', lifetimeMs: null, of: ['vast_tag'] },
  { pattern: 'vast-documents\\.json\\.gz', format: 'gzipped_json', lifetimeMs: null, of: ['vast_tag'] },
  { pattern: 'companion-[0-9]{1,2}\\.jpeg', format: 'jpeg', lifetimeMs: null, of: ['vast_tag'] },
  { pattern: 'documents\\.json\\.gz', format: 'gzipped_json', lifetimeMs: null },
  { pattern: 'bodies\\.json\\.gz', format: 'gzipped_json', lifetimeMs: BODY_LIFETIME_MS },
];

/** Names a node may upload under, as the source of a regular expression. */
export const ARTIFACT_NAME = `^(${ARTIFACT_KINDS.map(({ pattern }) => pattern).join('|')})$`;

/** The kind of the artifact called `name`, undefined where no kind has such a name. */
export const artifactKindOf = (name: string): ArtifactKind | undefined =>
  ARTIFACT_KINDS.find(({ pattern }) => new RegExp(`^${pattern}$`).test(name));

/** Whether a scan of this kind can have an artifact called `name`. */
export const mayHaveArtifact = (scanned: ScannedKind, name: string): boolean => {
  const kind = artifactKindOf(name);
  return kind !== undefined && (kind.of?.includes(scanned) ?? true);
};

/** The most bytes one artifact may have. */
export const ARTIFACT_BYTES_MAX = 32 * 1024 * 1024;

/**
 * A stored file of a scan: its hash in hex and size in bytes; `width` and `height` in pixels, 0 where it is not an
 * image.
 */
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
