import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { slow } from '../../../shared/test/support/slow.ts';
import { breakingChanges } from '../support/breaking-changes.ts';
import { RELEASED_OPENAPI } from '../support/released-openapi.ts';
import { type Json, runningApi } from '../support/running-api.ts';

/** A document with one operation; a test changes it. */
function changed(change: (operation: Json, request: Json, answer: Json) => void): string[] {
  const document = () => ({
    openapi: '3.1.0',
    info: { title: 'An API', version: '1.0.0' },
    paths: {
      '/things': {
        post: {
          parameters: [{ name: 'dry_run', in: 'query', schema: { type: 'boolean' } }],
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingIn' } } } },
          responses: {
            201: {
              description: 'A thing',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
            },
          },
        },
      },
    },
    components: {
      schemas: {
        ThingIn: {
          type: 'object',
          required: ['url'],
          properties: { url: { type: 'string' }, count: { type: 'integer', maximum: 20 }, kind: { enum: ['a', 'b'] } },
        },
        Thing: {
          type: 'object',
          required: ['id', 'status'],
          properties: { id: { type: 'string' }, status: { enum: ['pending', 'done'] } },
        },
      },
    },
  });
  const [before, after] = [document(), document()];
  change(after.paths['/things'].post, after.components.schemas.ThingIn, after.components.schemas.Thing);
  return breakingChanges(before, after);
}

test('the comparison reports a change that breaks clients', () => {
  const breaking: Record<string, Parameters<typeof changed>[0]> = {
    'a field of the answer is gone': (_, __, answer) => {
      delete answer.properties.status;
      answer.required.pop();
    },
    'a field of the answer need not be there any more': (_, __, answer) => void answer.required.pop(),
    'a field of the answer has another type': (_, __, answer) =>
      void Object.assign(answer.properties.id, { type: 'integer' }),
    'a field of the request is required': (_, request) => void request.required.push('count'),
    'a new field of the request is required': (_, request) => {
      request.properties.more = { type: 'string' };
      request.required.push('more');
    },
    'a field of the request is not known any more': (_, request) => void delete request.properties.count,
    'a limit is lower': (_, request) => void Object.assign(request.properties.count, { maximum: 5 }),
    'a value of the request is refused': (_, request) => void request.properties.kind.enum.pop(),
    'a parameter is gone': (operation) => void operation.parameters.pop(),
    'an answer is gone': (operation) => void delete operation.responses[201],
  };
  for (const [name, change] of Object.entries(breaking)) assert.ok(changed(change).length > 0, name);
});

test('the comparison does not report a change that only adds', () => {
  const compatible: Record<string, Parameters<typeof changed>[0]> = {
    'no change': () => {},
    'a field of the answer': (_, __, answer) => {
      answer.properties.more = { type: 'string' };
      answer.required.push('more');
    },
    'a value of the answer': (_, __, answer) => void answer.properties.status.enum.push('failed'),
    'a field of the request': (_, request) => void Object.assign(request.properties, { more: { type: 'string' } }),
    'a value of the request': (_, request) => void request.properties.kind.enum.push('c'),
    'a higher limit': (_, request) => void Object.assign(request.properties.count, { maximum: 50 }),
    'a parameter': (operation) => void operation.parameters.push({ name: 'more', in: 'query', schema: {} }),
    'another answer': ({ responses }) => void Object.assign(responses, { 409: { description: 'A conflict' } }),
    'other words': (operation) => void Object.assign(operation, { summary: 'Makes a thing' }),
  };
  for (const [name, change] of Object.entries(compatible)) assert.deepEqual(changed(change), [], name);
});

test('§9.3 the API has not removed anything since the last release', slow, async (t) => {
  const api = await runningApi();
  t.after(() => api.stop());
  const { body } = await api.get('/api/v1/openapi.json', { key: null });
  const { '/api/v1/geos': geos, ...paths } = body.paths;
  assert.ok(geos);
  assert.deepEqual(breakingChanges(body, { ...body, paths }), ['remove paths api/v1/geos get']);
  if (!existsSync(RELEASED_OPENAPI)) return t.diagnostic('there is no release yet to compare with');
  assert.deepEqual(breakingChanges(JSON.parse(readFileSync(RELEASED_OPENAPI, 'utf8')), body), []);
});
