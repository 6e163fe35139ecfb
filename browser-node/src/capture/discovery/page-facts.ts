import type { Box } from '../box.ts';

/** A node of a document. Text nodes have the tag `#text`, shadow roots `#shadow`. */
export type PageNode = {
  /** Its parent's index in the document; -1: it has none. A shadow root's parent is its host. */
  parent: number;
  tag: string;
  /** Those of {@link READ_ATTRIBUTES} that it has, cut to {@link ATTRIBUTE_LENGTH_MAX} characters, or as URLs are. */
  attributes: Readonly<Record<string, string>>;
  /**
   * The absolute URL of the picture that an image shows, which `srcset`, `sizes` or a `picture` around it may have
   * chosen; absent: it has none.
   */
  pictureUrl?: string;
  /** What a text node says, cut as attributes are. */
  text: string;
  /** Its border box, from the left edge of the page and its top; null: it has none. */
  box: Box | null;
  /** A visitor could see it: it is not transparent, hidden, or cut off by an element without an extent. */
  isShown: boolean;
  /** It draws something by itself: a picture, text, a background. */
  paints: boolean;
  /** The CSS `position`. */
  position: string;
  backendNodeId: number;
};

/**
 * A document of a page. `owner`: the element of its frame, null for the page's own document and where it is not known.
 */
export type PageDocument = {
  frameId: string;
  parentFrameId: string | null;
  url: string;
  /** What relative addresses in it are relative to (HTML standard, "document base URL"); absent: not known. */
  baseUrl?: string;
  owner: { document: number; node: number } | null;
  /** In the order of the document, parents before their children. */
  nodes: readonly PageNode[];
  /** Whether its nodes could be read. */
  isRead: boolean;
};

/** A request of a page. `scripts`: the scripts that caused it, innermost first. `atMs`: Unix time. */
export type PageRequest = {
  url: string;
  resourceType: string;
  contentType: string;
  frameId: string;
  scripts: readonly string[];
  atMs: number;
};

/**
 * What a page shows and requests; `documents` begins with the page's own, and parents come before the frames in them.
 * `start`: where the view is when the page is not scrolled, absent = at its top left, as of every page but those that
 * are written from right to left.
 */
export type PageFacts = {
  documents: readonly PageDocument[];
  requests: readonly PageRequest[];
  /** Size of the page, and of what of it is in view. */
  page: { width: number; height: number };
  view: { width: number; height: number };
  start?: { x: number; y: number };
};

/** The attributes that signals are in. */
export const READ_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['id', 'class', 'src', 'srcdoc', 'href', 'name', 'title', 'rel', 'role', 'alt', 'aria-label', 'type', 'onclick'],
  ...['data-google-query-id', 'data-ad-client', 'data-ad-slot', 'data-ad-status', 'data-adsbygoogle-status'],
  ...['data-type', 'data-widget-id', 'data-rc-widget', 'data-src', 'data-is-safeframe', 'data-href', 'data-url'],
]);
export const ATTRIBUTE_LENGTH_MAX = 500;
/** Those that are compared with the URLs of requests, and are as long as these. */
export const URL_ATTRIBUTES: ReadonlySet<string> = new Set(['src', 'href']);
