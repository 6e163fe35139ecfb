import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Middleware } from 'koa';
import type { RequestState } from './serve-routes.ts';
import { allowOnly, READ_METHODS } from './serve-routes.ts';

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
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/api.css">
</head>
<body>
<noscript>This page needs scripts. The OpenAPI document is at <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</noscript>
<p class="back"><a href="/docs">All documents</a></p>
<main id="reference"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/api.js"></script>
</body>
</html>
`;

const SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
});
`;

const STYLE = `html { color-scheme: light dark; }
body { margin: 0; background: #fafafa; }
body, .back a { color: #3b4151; }
html.dark-mode body { background: #1c2022; }
html.dark-mode body, html.dark-mode .back a { color: #e4e6e6; }
.back { margin: 0; padding: 12px 16px; font-family: sans-serif; }
noscript { display: block; padding: 1rem; font-family: sans-serif; }
.swagger-ui .wrapper { padding: 0 16px; }
.swagger-ui .info { margin: 24px 0; }
@media (max-width: 640px) {
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { order: 1; flex-basis: 100%; padding: 4px 0 0; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; }
  .swagger-ui table { display: block; overflow-x: auto; }
  .swagger-ui .info .title { font-size: 26px; }
}
`;

type File = { type: string; text?: string };

/** Files of the bundle, read once. */
const read = new Map<string, Promise<Buffer>>();

function bundled(name: string): Promise<Buffer> {
  const contents = read.get(name) ?? readFile(join(BUNDLE, name));
  read.set(name, contents);
  return contents;
}

const FILES: Record<string, File> = {
  '/docs/api': { type: 'text/html', text: PAGE },
  '/docs/api.js': { type: 'text/javascript', text: SCRIPT },
  '/docs/api.css': { type: 'text/css', text: STYLE },
  '/docs/swagger-ui.css': { type: 'text/css' },
  '/docs/swagger-ui-bundle.js': { type: 'text/javascript' },
  '/docs/favicon-32x32.png': { type: 'image/png' },
};

/** Serves the API reference at `/docs/api`: Swagger UI, which reads `/api/v1/openapi.json`. The page loads no file from another host. */
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
