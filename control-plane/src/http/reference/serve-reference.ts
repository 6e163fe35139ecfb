import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Middleware } from 'koa';
import { rememberBriefly } from '../../platform/remember-briefly.ts';
import { allowOnly, READ_METHODS, type RequestState } from '../serve-routes.ts';

const BUNDLE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** Only files of this service may load or run in the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Adsweep API</title>
<link rel="icon" type="image/png" href="../docs/favicon-32x32.png">
<link rel="stylesheet" href="../docs/swagger-ui.css">
<link rel="stylesheet" href="../docs/api.css">
</head>
<body>
<noscript>This page needs scripts. The OpenAPI document is at <a href="../api/v1/openapi.json">/api/v1/openapi.json</a>.</noscript>
<header class="top"><a href="../docs">All documents</a></header>
<div id="reference"></div>
<script src="../docs/swagger-ui-bundle.js"></script>
<script src="../docs/api.js"></script>
</body>
</html>
`;

type File = { type: string; text?: string };

/** Files of the bundle, read once. */
const bundled = rememberBriefly((name) => readFile(join(BUNDLE, name)), Number.POSITIVE_INFINITY);

const own = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

const FILES: Record<string, File> = {
  '/docs/api': { type: 'text/html', text: PAGE },
  '/docs/api.js': { type: 'text/javascript', text: own('reference.js') },
  '/docs/api.css': { type: 'text/css', text: own('reference.css') },
  '/docs/swagger-ui.css': { type: 'text/css' },
  '/docs/swagger-ui-bundle.js': { type: 'text/javascript' },
  '/docs/favicon-32x32.png': { type: 'image/png' },
};

/**
 * Serves the API reference at `/docs/api`: Swagger UI, which reads `/api/v1/openapi.json`. The page loads no file from
 * another host, and its links are relative, so that the service can be served below any path of its host.
 */
export function serveReference(): Middleware {
  return async (context, next) => {
    const path = context.path;
    if (!Object.hasOwn(FILES, path)) return next();
    (context.state as RequestState).route = '/docs/api';
    if (!allowOnly(context, READ_METHODS)) return;
    const { type, text } = FILES[path]!;
    context.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'max-age=3600' });
    context.type = type;
    context.body = text ?? (await bundled(path.slice('/docs/'.length)));
  };
}
