import assert from 'node:assert/strict';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import type { Context, Middleware } from 'koa';
import { serveDocuments } from '../../../src/http/documents/serve-documents.ts';
import { serveReference } from '../../../src/http/reference/serve-reference.ts';

/** The body that a middleware answers a GET with. */
async function answered(serve: Middleware, path: string): Promise<unknown> {
  const context = { path, method: 'GET', state: {}, querystring: '', set: () => undefined } as unknown as Context;
  await serve(context as never, async () => undefined);
  return context.body;
}

test('documents that could not be read, as without a free file descriptor, are read for the next request', async (t) => {
  const served: [Middleware, string][] = [
    [serveDocuments(), '/docs'],
    [serveReference(), '/docs/swagger-ui.css'],
  ];
  const readFile = t.mock.method(files, 'readFile', () => Promise.reject(new Error('EMFILE: too many open files')));
  syncBuiltinESMExports();
  for (const [serve, path] of served) await assert.rejects(answered(serve, path), /EMFILE/);
  readFile.mock.restore();
  syncBuiltinESMExports();
  for (const [serve, path] of served) assert.ok(await answered(serve, path));
});
