import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context, Middleware } from 'koa';
import { rememberBriefly } from '../../platform/remember-briefly.ts';
import { PAGE_ICON, PAGE_STYLESHEET } from '../pages/html.ts';
import { allowOnly, READ_METHODS, type RequestState } from '../serve-routes.ts';
import { readDocuments } from './read-documents.ts';
import { showDocument, showFound, showMissing } from './show-documents.ts';

/** Pages without scripts, which load nothing from elsewhere. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const SEARCH = '/docs/search';
const WORDS_MAX = 200;

const FILES: Record<string, { type: string; text: string }> = {
  '/docs/documents.css': {
    type: 'text/css; charset=utf-8',
    text: PAGE_STYLESHEET + readFileSync(join(import.meta.dirname, 'documents.css'), 'utf8'),
  },
  '/docs/icon.svg': { type: 'image/svg+xml', text: PAGE_ICON },
};

/** Serves the documents at `/docs`, and the search in them. They are read at the first request. */
export function serveDocuments(): Middleware {
  const read = rememberBriefly(readDocuments, Number.POSITIVE_INFINITY);
  return async (context, next) => {
    const { path } = context;
    if (path !== '/docs' && !path.startsWith('/docs/')) return next();
    const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
    if (file) return send(context, file.type, file.text);
    const documents = await read('');
    if (path === SEARCH) {
      const words = (new URLSearchParams(context.querystring).get('q') ?? '').trim().slice(0, WORDS_MAX).toWellFormed();
      return send(context, 'text/html', () => showFound(documents, words, documents.search(words)));
    }
    // The links of the first page are relative to its path without a slash at its end.
    if (path === '/docs/') return context.redirect('../docs');
    const shown = documents.byPath.get(path.slice(1));
    if (!shown && path.lastIndexOf('/') > '/docs'.length) return next();
    send(context, 'text/html', () => (shown ? showDocument(documents, shown) : showMissing(documents)));
    if (!shown) context.status = 404;
  };
}

function send(context: Context, type: string, text: string | (() => string)): void {
  (context.state as RequestState).route = '/docs';
  if (!allowOnly(context, READ_METHODS)) return;
  context.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'max-age=300' });
  context.type = type;
  context.body = typeof text === 'string' ? text : text();
}
