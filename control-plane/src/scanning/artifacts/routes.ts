import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { CONTENT_TYPES } from '@adsweep/shared/capture/artifacts/artifact-kind.ts';
import { SUBJECT_ORD } from '@adsweep/shared/capture/subject-landing.ts';
import { SCREENSHOT_WIDTH_MAX, SCREENSHOT_WIDTH_MIN } from '@adsweep/shared/limits.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { conditional, matches } from '../../http/conditional-get.ts';
import { type Answer, ok, type Route, route } from '../../http/route.ts';
import { QueueFull } from './bounded-queue.ts';
import type { PicturePool } from './picture-pool.ts';
import { resizedSize } from './resize-screenshot.ts';

/** A stored picture: its bytes, its hash, its media type and its size in pixels. Whoever opens it reads or destroys the stream. */
export type OpenPicture = {
  stream: Readable;
  artifact: { sha256: string; bytes: number; content_type: string; width: number; height: number };
};

/** Opens the screenshot of a landing of the organization's scan; null where there is none, or no such scan. */
export type OpenScreenshot = (organizationId: string, scanId: string, ord: number) => Promise<OpenPicture | null>;

const group = 'Artifacts';
const WidthQuery = Type.Object(
  {
    w: Type.Optional(
      Type.Integer({
        minimum: SCREENSHOT_WIDTH_MIN,
        maximum: SCREENSHOT_WIDTH_MAX,
        description: 'Width in pixels. A picture is never enlarged; it is cut at 2.5 times its width.',
      }),
    ),
  },
  { additionalProperties: false },
);
const replies = {
  200: { description: 'The picture.', content: 'image/webp' },
  304: { description: 'The picture is the one that the client has.' },
};

/** Pictures of scans, streamed under the same authorisation as everything else (spec 4.3). */
export function artifactRoutes(open: OpenScreenshot, pictures: PicturePool): Route<Caller>[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/scans/{id}/screenshot',
      group,
      summary: 'Screenshot of the page',
      permission: 'scans.read',
      params: Type.Object({ id: Type.String() }),
      query: WidthQuery,
      replies,
      errors: ['not_found', 'unavailable'],
      handle: async ({ caller, params, query, stream }) =>
        answerPicture(pictures, await open(caller.organizationId, params.id, SUBJECT_ORD), query.w, stream),
    }),
    route({
      method: 'GET',
      path: '/api/v1/scans/{id}/landings/{ord}/screenshot',
      group,
      summary: 'Screenshot of a landing',
      permission: 'scans.read',
      params: Type.Object({ id: Type.String(), ord: Type.String({ pattern: '^[0-9]{1,3}$' }) }),
      query: WidthQuery,
      replies,
      errors: ['not_found', 'unavailable'],
      handle: async ({ caller, params, query, stream }) =>
        answerPicture(pictures, await open(caller.organizationId, params.id, Number(params.ord)), query.w, stream),
    }),
  ];
}

/** The picture in the requested width; 404 where there is none, 304 where the client has it, 503 where too many wait for theirs. */
export async function answerPicture(
  pictures: PicturePool,
  picture: OpenPicture | null,
  width: number | undefined,
  request: IncomingMessage,
): Promise<Answer> {
  if (!picture) throw notFound('screenshot');
  const { headers } = request;
  const { stream, artifact } = picture;
  const shown = width === undefined || isWhole(artifact, width) ? null : width;
  const asStored = shown === null && artifact.content_type === CONTENT_TYPES.webp;
  const etag = `"${artifact.sha256.slice(0, 32)}${shown === null ? '' : `-${shown}`}"`;
  const caching = { 'Cache-Control': 'private, max-age=3600' };
  if (matches(headers['if-none-match'], etag)) {
    stream.destroy();
    return conditional(headers, etag, ok('', caching));
  }
  const body = asStored ? stream : await resize(pictures, picture, shown, request);
  const length: Record<string, string> = asStored ? { 'Content-Length': String(artifact.bytes) } : {};
  return { ...conditional(headers, etag, ok(body, { ...caching, ...length })), type: CONTENT_TYPES.webp };
}

function isWhole(picture: { width: number; height: number }, width: number): boolean {
  const size = resizedSize(picture, width);
  return size.width === picture.width && size.height === picture.height;
}

async function resize(
  pictures: PicturePool,
  { stream, artifact }: OpenPicture,
  width: number | null,
  { socket }: IncomingMessage,
): Promise<Buffer> {
  const gone = new AbortController();
  const onClose = () => gone.abort(new ConnectionLost(undefined));
  socket.once('close', onClose);
  try {
    return await pictures.resize({ ...artifact, open: () => stream }, width, gone.signal);
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error;
    throw new ApiError('unavailable', 'Too many pictures are being resized.', { headers: { 'Retry-After': '2' } });
  } finally {
    socket.off('close', onClose);
    stream.destroy();
  }
}
