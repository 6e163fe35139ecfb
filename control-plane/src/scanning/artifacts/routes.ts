import type { IncomingMessage } from 'node:http';
import { CONTENT_TYPES } from '@adsweep/shared/capture/artifacts.ts';
import { SCREENSHOT_WIDTH_MAX, SCREENSHOT_WIDTH_MIN } from '@adsweep/shared/limits.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { conditional, matches } from '../../http/conditional-get.ts';
import { type Answer, ok, type Route, route } from '../../http/route.ts';
import { QueueFull } from '../../platform/bounded-queue.ts';
import type { FoundFile, FoundPicture, PictureOf } from './artifact.ts';
import { CACHING, fileRoutes } from './file-routes.ts';
import { NotResized, type PicturePool } from './picture-pool.ts';
import { resizedSize, type Size, type WantedSize } from './resize-screenshot.ts';

/** Access to pictures and files of an organization's scans; null if the file or the scan does not exist. */
export type ArtifactSource = {
  findPicture(organizationId: string, scanId: string, of: PictureOf): Promise<FoundPicture | null>;
  /** The file with this name. */
  findFile(organizationId: string, scanId: string, name: string): Promise<FoundFile | null>;
};

const group = 'Artifacts';
const WidthQuery = Type.Object(
  {
    w: Type.Optional(
      Type.Integer({
        minimum: SCREENSHOT_WIDTH_MIN,
        maximum: SCREENSHOT_WIDTH_MAX,
        description: 'Width in pixels. A picture is never enlarged; that of a page is cropped to 2.5 times its width.',
      }),
    ),
  },
  { additionalProperties: false },
);
const Id = Type.Object({ id: Type.String() });
const WithOrd = Type.Object({ id: Type.String(), ord: Type.String({ pattern: '^[0-9]{1,15}$' }) });
const WithPlace = Type.Object({ id: Type.String(), place: Type.String({ pattern: '^[0-9]{1,2}$' }) });
const NOT_MODIFIED = { description: 'Not modified: the client has the current version.' };

/** The routes for pictures: the end of the path, the summary, the parameters, and the subject. */
const PICTURES = [
  { path: 'screenshot', summary: 'Screenshot of the page', params: Id, of: 'page' },
  { path: 'creative-screenshot', summary: 'Screenshot of the creative', params: Id, of: 'creative' },
  { path: 'landings/{ord}/screenshot', summary: 'Screenshot of a landing', params: WithOrd, of: 'landing' },
  {
    path: 'companions/{place}/screenshot',
    summary: 'Screenshot of a companion of a video ad',
    params: WithPlace,
    of: 'companion',
  },
] as const;

/** Streams the artifacts of scans, with the same authorisation as all routes (spec 4.3). */
export function artifactRoutes(source: ArtifactSource, pictures: PicturePool): Route<Caller>[] {
  return [...PICTURES.map((picture) => pictureRoute(source, pictures, picture)), ...fileRoutes(source.findFile)];
}

function pictureRoute(
  { findPicture }: ArtifactSource,
  pictures: PicturePool,
  { path, summary, params, of }: (typeof PICTURES)[number],
): Route<Caller> {
  return route({
    method: 'GET',
    path: `/api/v1/scans/{id}/${path}`,
    group,
    summary,
    permission: 'scans.read',
    params,
    query: WidthQuery,
    replies: { 200: { description: 'The picture.', content: 'image/webp' }, 304: NOT_MODIFIED },
    errors: ['not_found', 'unavailable'],
    handle: async ({ caller, params: named, query, stream }) => {
      const { id, ord, place } = named as { id: string; ord?: string; place?: string };
      const wanted = of === 'landing' ? Number(ord) : of === 'companion' ? (`companion ${Number(place)}` as const) : of;
      const picture = await findPicture(caller.organizationId, id, wanted);
      return answerPicture(pictures, picture, wantedSize(query.w, wanted), stream);
    },
  });
}

/** The requested size of a picture. Creatives and companions are never cropped (spec 4.3). */
export const wantedSize = (width: number | undefined, of: PictureOf): WantedSize => ({
  width: width ?? null,
  isWhole: typeof of === 'string' && of !== 'page',
});

/**
 * Answers with the picture in the wanted size: 404 if there is none or its file is not a picture, 304 if the client has
 * it, 503 if too many resizes are waiting or this one takes too long.
 */
export async function answerPicture(
  pictures: PicturePool,
  picture: FoundPicture | null,
  wanted: WantedSize,
  request: IncomingMessage,
): Promise<Answer> {
  if (!picture) throw notFound('screenshot');
  const { headers } = request;
  const shown = isWhole(picture, wanted) ? { width: null, isWhole: true } : wanted;
  const asStored = shown.width === null && picture.content_type === CONTENT_TYPES.webp;
  const etag = `"${picture.sha256.slice(0, 32)}${shown.width === null ? '' : `-${shown.width}`}"`;
  if (matches(headers['if-none-match'], etag)) return conditional(headers, etag, ok('', CACHING));
  const body = asStored ? await picture.read() : await resize(pictures, picture, shown, request);
  if (!body) throw notFound('screenshot');
  const length: Record<string, string> = asStored ? { 'Content-Length': String(picture.bytes) } : {};
  return { ...conditional(headers, etag, ok(body, { ...CACHING, ...length })), type: CONTENT_TYPES.webp };
}

function isWhole(picture: Size, wanted: WantedSize): boolean {
  const size = resizedSize(picture, wanted);
  return size.width === picture.width && size.height === picture.height;
}

async function resize(
  pictures: PicturePool,
  picture: FoundPicture,
  wanted: WantedSize,
  { socket }: IncomingMessage,
): Promise<Buffer> {
  const disconnected = new AbortController();
  const onClose = () => disconnected.abort(new ConnectionLost(undefined));
  socket.once('close', onClose);
  try {
    return await pictures.resize(picture, wanted, disconnected.signal);
  } catch (error) {
    if (error instanceof QueueFull) throw picturesBusy(error);
    if (!(error instanceof NotResized)) throw error;
    // A node's picture is not decoded when it arrives. If it turns out not to be one, there is no screenshot.
    throw error.isLate ? unavailable('The picture could not be resized in time.', error) : notFound('screenshot');
  } finally {
    socket.off('close', onClose);
  }
}

/** The 503 while too many pictures are being resized. */
export const picturesBusy = (cause: QueueFull): ApiError => unavailable('Too many pictures are being resized.', cause);

const unavailable = (detail: string, cause: unknown): ApiError =>
  new ApiError('unavailable', detail, { headers: { 'Retry-After': '2' }, cause });
