import type { IncomingHttpHeaders } from 'node:http';
import { CONTENT_TYPES, CREATIVE_HTML, CREATIVE_VIDEO, VAST_XML } from '@adsweep/shared/capture/artifacts.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { byteRange, conditional, matches } from '../../http/conditional-get.ts';
import { type Answer, ok, type Route, route } from '../../http/route.ts';
import type { FoundFile } from './artifact.ts';

type FindFile = (organizationId: string, scanId: string, name: string) => Promise<FoundFile | null>;

/**
 * A route for a file: the end of its path, its summary, the artifact's name, its type in the API document, and the type
 * that is sent.
 */
type Served = { path: string; summary: string; name: string; content: string; typeOf: (file: FoundFile) => string };

const FILES: Served[] = [
  {
    path: 'creative-html',
    summary: 'HTML of the creative as it was rendered',
    name: CREATIVE_HTML,
    content: 'text/plain',
    typeOf: () => CONTENT_TYPES.text,
  },
  {
    path: 'creative-video',
    summary: 'Media file of a VAST tag, with the type that its server sent',
    name: CREATIVE_VIDEO,
    content: '*/*',
    typeOf: ({ content_type }) => mediaType(content_type),
  },
  {
    path: 'vast-xml',
    summary: 'VAST document with its wrappers resolved',
    name: VAST_XML,
    content: 'application/xml',
    typeOf: () => 'application/xml; charset=utf-8',
  },
];

/** Files of scans as they are stored, whole or in part (spec 4.3). */
export const fileRoutes = (findFile: FindFile): Route<Caller>[] => FILES.map((served) => fileRoute(findFile, served));

function fileRoute(findFile: FindFile, { path, summary, name, content, typeOf }: Served): Route<Caller> {
  return route({
    method: 'GET',
    path: `/api/v1/scans/{id}/${path}`,
    group: 'Artifacts',
    summary,
    description: '`Range` requests a part of the file; with `If-Range`, only if the file still has that ETag.',
    permission: 'scans.read',
    params: Type.Object({ id: Type.String() }),
    replies: {
      200: { description: 'The file.', content },
      206: { description: 'The requested part.', content },
      304: { description: 'Not modified: the client has the current version.' },
    },
    errors: ['not_found', 'range_not_satisfiable'],
    handle: async ({ caller, params, headers }) => {
      const file = await findFile(caller.organizationId, params.id, name);
      const answer = file && (await answerFile(file, headers));
      if (!file || !answer) throw notFound(path);
      return { ...answer, type: typeOf(file) };
    },
  });
}

/** A cache that a program shares among its keys must ask anew for each of them. */
export const CACHING = { 'Cache-Control': 'private, max-age=3600', Vary: 'Authorization' };

/** The content comes from a hostile page: a browser must never render it as a document of this origin. */
const FILE_HEADERS = {
  ...CACHING,
  'Accept-Ranges': 'bytes',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
};

/** Answers with the file, a part of it, or 304 if the client has it; null if it was removed in the meantime. */
async function answerFile(file: FoundFile, headers: IncomingHttpHeaders): Promise<Answer | null> {
  const etag = `"${file.sha256.slice(0, 32)}"`;
  if (matches(headers['if-none-match'], etag)) return conditional(headers, etag, ok('', FILE_HEADERS));
  const isSameFile = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = byteRange(isSameFile ? headers.range : undefined, file.bytes);
  if (range === 'none') throw notInFile(file.bytes);
  const stream = await file.read(range === 'whole' ? undefined : range);
  if (!stream) return null;
  const all = { ...FILE_HEADERS, ETag: etag };
  if (range === 'whole') return ok(stream, { ...all, 'Content-Length': String(file.bytes) });
  const { start, end } = range;
  const part = { 'Content-Length': String(end - start + 1), 'Content-Range': `bytes ${start}-${end}/${file.bytes}` };
  return { status: 206, body: stream, headers: { ...all, ...part } };
}

function notInFile(bytes: number): ApiError {
  const headers = { 'Content-Range': `bytes */${bytes}` };
  return new ApiError('range_not_satisfiable', `The range is outside the file, which has ${bytes} bytes.`, {
    headers,
  });
}

const MEDIA_TYPE = /^((?:audio|video)\/[a-z0-9][a-z0-9.+-]{0,60})\s*(?:;[\x20-\x7e]*)?$/i;

/**
 * The type that the server sent, without its parameters, if it is an audio or video type; otherwise that of arbitrary
 * bytes, because a server can send any type.
 */
const mediaType = (sent: string): string => MEDIA_TYPE.exec(sent)?.[1]?.toLowerCase() ?? CONTENT_TYPES.media;
