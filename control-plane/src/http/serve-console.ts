import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import type { Middleware } from 'koa';
import { ArrivingBodies, addressAsOwner, announcedBytes, organizationAsOwner, readBody } from './read-body.ts';
import { parseForm } from './read-form.ts';
import type { Answer } from './route.ts';
import { allowOnly, type RequestState } from './serve-routes.ts';

/** A request for a page of the console. `path`: below `/console`, '' for its first page. */
export type PageRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Under which the log has what becomes of it. */
  requestId: string;
  stream: IncomingMessage;
  /**
   * Reads a form that was sent by a person of this organization; null: by a stranger. Throws 413 above this size, 422
   * for too many fields, and 429 while too much arrives at once.
   */
  readForm: (bytesMax: number, organizationId: string | null) => Promise<URLSearchParams>;
};

/** The console as it is served. */
export type ConsoleSurface = { answer: (request: PageRequest) => Promise<Answer> };

export const CONSOLE_PATH = '/console';

/** Serves the pages of the console. */
export function serveConsole({ answer }: ConsoleSurface): Middleware {
  const arriving = new ArrivingBodies();
  return async (context, next) => {
    const { path, method, headers, req: stream } = context;
    if (path !== CONSOLE_PATH && !path.startsWith(`${CONSOLE_PATH}/`)) return next();
    (context.state as RequestState).route = CONSOLE_PATH;
    if (!allowOnly(context, ['HEAD', 'GET', 'POST'])) return;
    const readForm = async (bytesMax: number, organizationId: string | null) => {
      const owner =
        organizationId === null
          ? addressAsOwner(stream.socket.remoteAddress ?? 'unknown')
          : organizationAsOwner(organizationId);
      const read = () => readBody(stream, { bytes: bytesMax });
      const bytes = await arriving.share(owner, announcedBytes(stream, bytesMax), read);
      // A browser sends the ends of lines of a text area as CRLF, whatever they were.
      const sent = parseForm(bytes);
      return new URLSearchParams([...sent].map(([name, value]) => [name, value.replaceAll('\r\n', '\n')]));
    };
    const query = new URLSearchParams(context.querystring);
    // Requests that arrive together would otherwise be handled in one piece.
    await awaitTurn();
    const below = path.slice(CONSOLE_PATH.length);
    const requestId = String(context.response.get('X-Request-Id'));
    const answered = await answer({ method, path: below, query, headers, requestId, stream, readForm });
    context.status = answered.status;
    context.set(answered.headers ?? {});
    if (answered.type) context.type = answered.type;
    context.body = (answered.body ?? '') as string;
  };
}
