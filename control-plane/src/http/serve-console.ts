import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BodyTooLarge, readBytes } from '@adsweep/shared/service/read-bytes.ts';
import type { Middleware } from 'koa';
import { ApiError } from './api-error.ts';
import type { Answer } from './route.ts';
import { allowOnly, type RequestState } from './serve-routes.ts';

/** A request for a page of the console. `path`: below `/console`, '' for its first page. */
export type PageRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  stream: IncomingMessage;
  /** Reads a form that was sent; throws 413 above this size. */
  readForm: (bytesMax: number) => Promise<URLSearchParams>;
};

/** The console as it is served. */
export type ConsoleSurface = { answer: (request: PageRequest) => Promise<Answer> };

export const CONSOLE_PATH = '/console';

/** Serves the pages of the console. */
export function serveConsole({ answer }: ConsoleSurface): Middleware {
  return async (context, next) => {
    const { path, method, headers, req: stream } = context;
    if (path !== CONSOLE_PATH && !path.startsWith(`${CONSOLE_PATH}/`)) return next();
    (context.state as RequestState).route = CONSOLE_PATH;
    if (!allowOnly(context, ['HEAD', 'GET', 'POST'])) return;
    const readForm = async (bytesMax: number) => {
      const bytes = await readBytes(stream, bytesMax).catch((error: unknown) => {
        throw error instanceof BodyTooLarge ? new ApiError('request_too_large', error.message) : error;
      });
      // A browser sends the ends of lines of a text area as CRLF, whatever they were.
      const sent = new URLSearchParams(bytes.toString('utf8'));
      return new URLSearchParams([...sent].map(([name, value]) => [name, value.replaceAll('\r\n', '\n')]));
    };
    const query = new URLSearchParams(context.querystring);
    const answered = await answer({
      ...{ method, path: path.slice(CONSOLE_PATH.length), query, headers, stream, readForm },
    });
    context.status = answered.status;
    context.set(answered.headers ?? {});
    if (answered.type) context.type = answered.type;
    context.body = (answered.body ?? '') as string;
  };
}
