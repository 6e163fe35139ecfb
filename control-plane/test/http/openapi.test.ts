import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { ERRORS } from '../../src/http/errors.ts';
import { type Json, KEYS, type RunningApi, runningApi } from '../support/running-api.ts';

/** Every object of a document, with the path that leads to it. */
function* walk(value: Json, path = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  yield [path, value];
  for (const [key, below] of Object.entries(value)) yield* walk(below, `${path}/${key}`);
}

describe('the OpenAPI document', () => {
  let api: RunningApi;
  let document: Json;
  before(async () => {
    api = await runningApi();
    document = (await api.get('/api/v1/openapi.json', { key: null })).body;
  });
  after(() => api.stop());

  const resolved = (response: Json): Json =>
    response.$ref ? document.components.responses[response.$ref.split('/').at(-1)] : response;
  const contentOf = (response: Json): Json => resolved(response).content;
  const describedIn = (response: Json): string => resolved(response).description;

  const operations = (): Json[] => Object.values(document.paths as Json).flatMap((path) => Object.values(path as Json));

  test('§9.2 is served without a credential and contains its version and server', () => {
    assert.equal(document.openapi, '3.1.0');
    assert.match(document.info.version, /^\d+\.\d+\.\d+$/);
    assert.deepEqual(document.servers, [{ url: 'https://adsweep.example' }]);
  });

  test('§9.1 describes exactly the methods that its paths, all below /api/v1, support', async () => {
    const every = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
    for (const [path, methods] of Object.entries(document.paths as Json)) {
      assert.match(path, /^\/api\/v1\//);
      for (const method of every) {
        const url = `http://127.0.0.1:${api.port}${path.replaceAll(/\{\w+\}/g, 'x')}`;
        const { status } = await fetch(url, { method });
        const isServed = status !== 405 && status !== 404;
        assert.equal(isServed, method.toLowerCase() in (methods as Json), `${method} ${path}: ${status}`);
      }
    }
  });

  test('has no dangling references', () => {
    for (const [path, { $ref, $id, $defs }] of walk(document)) {
      assert.equal($id, undefined, path);
      assert.equal($defs, undefined, path);
      if ($ref === undefined) continue;
      const [, components, kind, name] = $ref.split('/');
      assert.ok(document[components]?.[kind]?.[name], `${path}: ${$ref}`);
    }
  });

  test('has a summary, a unique id, a group and a response for every operation', () => {
    const ids = operations().map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    const groups = document.tags.map(({ name }: { name: string }) => name);
    for (const { summary, description, tags, responses, operationId } of operations()) {
      assert.ok(summary.length > 3 && description.length > 3, operationId);
      assert.ok(groups.includes(tags[0]), operationId);
      assert.ok(
        Object.keys(responses).some((status) => /^2/.test(status)),
        operationId,
      );
    }
  });

  test('§9.4 names operations as methods: a verb, and what it is done to', () => {
    const idOf = (method: string, path: string) => document.paths[path][method].operationId;
    const names: [method: string, path: string, id: string][] = [
      ['post', '/scans', 'createScan'],
      ['post', '/scans/bulk', 'createScansInBulk'],
      ['get', '/scans', 'listScans'],
      ['get', '/scans/{id}', 'getScan'],
      ['get', '/scans/{id}/tags', 'listScanTags'],
      ['post', '/scans/{id}/cancel', 'cancelScan'],
      ['post', '/scans/recheck', 'recheckScans'],
      ['get', '/scans/{id}/landings/{ord}/screenshot', 'getScanLandingScreenshot'],
      ['post', '/campaign-groups/{group_id}/pause-schedule', 'pauseCampaignGroupSchedule'],
      ['get', '/account', 'getAccount'],
      ['post', '/account/api-keys', 'createApiKey'],
      ['put', '/account/labels', 'replaceLabels'],
      ['put', '/custom-taxonomies/{taxonomy_id}', 'replaceCustomTaxonomy'],
      ['post', '/fleet/nodes/{id}/drain', 'drainFleetNode'],
      ['get', '/organizations/{id}/audit-log', 'listOrganizationAuditLog'],
      ['get', '/openapi.json', 'getOpenApiDocument'],
    ];
    for (const [method, path, id] of names) assert.equal(idOf(method, `/api/v1${path}`), id);
    for (const { operationId } of operations()) assert.match(operationId, /^[a-z]+([A-Z][a-z0-9]*)+$/);
  });

  test('§9.4 has a schema for every answer but an event stream, binary ones too', () => {
    for (const { responses, operationId } of operations())
      for (const response of Object.values(responses as Json))
        for (const [type, { schema }] of Object.entries((contentOf(response) ?? {}) as Json) as Json[])
          assert.equal(schema === undefined, type === 'text/event-stream', `${operationId}: ${type}`);
    const picture = document.paths['/api/v1/scans/{id}/screenshot'].get.responses[200].content['image/webp'];
    assert.deepEqual(picture.schema, { type: 'string', format: 'binary' });
    const { contact, license } = document.info;
    assert.deepEqual([contact.url, license.identifier], ['https://adsweep.example', 'Apache-2.0']);
  });

  test('§9.4 has no schema with the name that generators give to a property of another one', () => {
    const { schemas } = document.components;
    for (const [title, { properties = {} }] of Object.entries(schemas) as [string, Json][])
      for (const [name, { enum: values, type }] of Object.entries(properties) as [string, Json][]) {
        const given = title + name.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
        if (values || type === 'object') assert.equal(schemas[given], undefined, `${title}.${name} is ${given}`);
      }
  });

  test('declares every path parameter as required', () => {
    for (const [path, methods] of Object.entries(document.paths as Json)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(methods as Json) as Json[]) {
        const declared = parameters
          .filter((one: Json) => one.in === 'path' && one.required)
          .map((one: Json) => one.name);
        assert.deepEqual(declared, inPath, path);
      }
    }
  });

  test('§9.2 §2.4.1 declares the 422 body for every operation that can refuse fields', () => {
    const { ValidationError } = document.components.schemas;
    assert.deepEqual(ValidationError.required, ['detail', 'code']);
    assert.deepEqual(ValidationError.properties.detail.items.required, ['loc', 'msg', 'type', 'ctx']);
    assert.ok('valid_sample' in ValidationError.properties.detail.items.properties.ctx.properties);
    for (const { responses, operationId } of operations()) {
      const { $ref } = contentOf(responses[422])['application/json'].schema;
      assert.equal($ref, '#/components/schemas/ValidationError', operationId);
    }
  });

  test('§6.4.9 describes what is sent to webhook endpoints, each kind with the schema of its body and a sample', () => {
    const kinds = Object.entries<Json>(document.webhooks).map(([kind, { post }]) => {
      const { schema, example } = post.requestBody.content['application/json'];
      return [
        kind,
        example.type,
        Object.keys(schema.properties.data.properties).sort(),
        Object.keys(example.data).sort(),
      ];
    });
    assert.deepEqual(
      kinds.map(([kind, , , sample]) => [kind, kind, sample, sample]),
      kinds,
    );
    assert.equal(kinds.length, 3);
  });

  test('§9.2 passes a third-party linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
    assert.deepEqual(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    );
  });

  test('§7.2.4 declares every error code for an operation, with its status and the schema of its body', () => {
    const declared = new Map<string, Set<string>>();
    for (const { responses } of operations())
      for (const [status, response] of Object.entries(responses as Json))
        for (const [, code = ''] of describedIn(response).matchAll(/^`([a-z_.]+)`:/gm)) {
          const { $ref } = contentOf(response)['application/json'].schema;
          declared.set(code, (declared.get(code) ?? new Set()).add(`${status} ${$ref.split('/').at(-1)}`));
        }
    // A path that is not there has no operation; leases are the nodes' own API, which is no part of this document.
    const undeclared = ['method_not_allowed', 'lease.lost', 'node.blocked'];
    const catalogue = Object.entries(ERRORS).filter(([code]) => !undeclared.includes(code));
    for (const [code, { status, detail }] of catalogue) {
      const shape = `${status} ${detail === 'items' ? 'ValidationError' : 'Error'}`;
      assert.deepEqual([...(declared.get(code) ?? [])], [shape], code);
    }
    assert.deepEqual(
      [...declared.keys()].filter((code) => !Object.hasOwn(ERRORS, code)),
      [],
    );
  });

  test('describes the security and the permission of every operation that needs a key', () => {
    for (const { method, path, permission } of api.routes.filter(
      (one) => one.path.startsWith('/api/') && one.group !== 'Forms',
    )) {
      const operation = document.paths[path][method.toLowerCase()];
      if (permission === 'none') assert.deepEqual(operation.security, []);
      else assert.ok(operation.responses[401], path);
      if (permission.includes('.')) assert.ok(operation.description.includes(permission), path);
    }
  });

  test('has an example of a new scan that the API accepts', async () => {
    const [example] = document.components.schemas.ScanIn.examples;
    assert.equal((await api.post('/api/v1/scans', example)).status, 201);
  });
});

describe('the reference page and the probes', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  test('the page loads only files of this service, and its content security policy allows no others', async () => {
    const page = await api.get('/docs/api', { key: null });
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
    assert.ok(files.length >= 5);
    for (const file of files) {
      const { pathname } = new URL(file, 'https://adsweep.example/below/docs/api');
      assert.match(pathname, /^\/below\//, file);
      assert.equal((await api.get(pathname.replace('/below', ''), { key: null })).status, 200, file);
    }
    assert.ok(!page.text.includes('<script>'), 'no script in the page itself');
  });

  test('no other file of the bundle is served', async () => {
    for (const path of ['/docs/package.json', '/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/toString'])
      assert.equal((await api.get(path)).status, 404, path);
  });

  test('healthz depends on no component; readyz names the missing ones', async () => {
    await api.redis.kill();
    assert.equal((await api.get('/healthz', { key: null })).status, 200);
    const waiting = await api.get('/readyz', { key: null });
    assert.equal(waiting.status, 503);
    assert.deepEqual(waiting.body, { status: 'not ready', missing: ['redis'] });
    await api.redis.start();
    assert.deepEqual((await api.get('/readyz', { key: null })).body, { status: 'ready', missing: [] });
  });

  test('metrics count requests by route pattern, never by path values', async () => {
    await api.get('/api/v1/scans/some-secret-id');
    await api.get('/no/such/some-secret-path');
    for (const key of [null, KEYS.ours]) assert.equal((await api.get('/metrics', { key })).status, 401);
    const { text } = await api.get('/metrics', { key: 'metrics-token' });
    assert.match(
      text,
      /adsweep_http_request_duration_seconds_count\{[^}]*route="\/api\/v1\/scans\/\{id\}",status="404"/,
    );
    assert.match(text, /route="unknown",status="404"/);
    assert.ok(!text.includes('some-secret'));
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)];
    assert.ok(types.some(([, name]) => name === 'adsweep_nodejs_active_handles_all'));
    for (const [, name = '', type] of types) {
      assert.match(name, /^adsweep_/);
      assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    }
  });
});
