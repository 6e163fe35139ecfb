import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { DeliveryRecord } from '../../src/delivery/webhooks/delivery.ts';
import { PERMISSIONS } from '../../src/http/caller.ts';
import { ERRORS } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';
import type { TagDefinition } from '../../src/reference/tags/tag-definitions.ts';
import { raiseAlert } from '../support/alert-doubles.ts';
import { requestsOf } from '../support/arbitrary-request.ts';
import {
  type Answered,
  type Json,
  KEYS,
  ORGANIZATIONS,
  PAGE,
  type RunningApi,
  runningApi,
} from '../support/running-api.ts';

const CAMPAIGN = { name: 'Spring offer', url: PAGE.url, country_codes: ['US'] };

const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? 20_261_122);
const RUNS = Number(process.env.ADSWEEP_TEST_RUNS ?? 10);

const TextError = Compile(Type.Object({ detail: Type.String(), code: Type.String() }));
const ItemsError = Compile(
  Type.Object({
    detail: Type.Array(
      Type.Object({ loc: Type.Array(Type.Any()), msg: Type.String(), type: Type.String(), ctx: Type.Object({}) }),
      { minItems: 1 },
    ),
    code: Type.String(),
  }),
);

describe('any request to any operation', () => {
  let api: RunningApi;
  let document: Json;
  /** What the ids in a path select, by the beginning of the path; the first that fits. */
  let idsOf: [prefix: string, id: string][];
  let operators: string;
  before(async () => {
    api = await runningApi();
    document = (await api.get('/api/v1/openapi.json')).body;
    const { body } = await api.post('/api/v1/scans', PAGE);
    // One that is over: a stream of its states ends.
    await api.post(`/api/v1/scans/${body.id}/cancel`);
    const { id: groupId } = (await api.post('/api/v1/campaign-groups', { name: 'A group' })).body;
    const { id: campaignId } = (await api.post('/api/v1/campaigns', { ...CAMPAIGN, group_id: groupId })).body;
    idsOf = [
      ['/api/v1/organizations/', ORGANIZATIONS.ours],
      ['/api/v1/campaign-groups/', groupId],
      ['/api/v1/campaigns/', campaignId],
      ['', body.id],
    ];
    operators = await api.keyThatMay(...PERMISSIONS);
  });
  after(() => api.stop());

  /** Compiling a schema takes longer than answering a request. */
  const checks = new Map<TSchema, ReturnType<typeof Compile>>();
  function checkOf(schema: TSchema): ReturnType<typeof Compile> {
    const check = checks.get(schema) ?? Compile(schema);
    checks.set(schema, check);
    return check;
  }

  /** Fails where an answer is not what the document says of the operation. */
  function assertDeclared(route: Route<never>, { status, headers, body }: Answered): void {
    const { responses } = document.paths[route.path][route.method.toLowerCase()];
    assert.ok(status < 500, 'an error of ours');
    assert.ok(status in responses, `${status} is not declared`);
    const reply = route.replies[status];
    if (reply?.schema) {
      const check = checkOf(reply.schema);
      assert.ok(check.Check(body), JSON.stringify(check.Errors(body)));
    } else if (reply) {
      const type = headers.get('content-type')?.split(';')[0] ?? null;
      const declared = reply.content === '*/*' ? type : (reply.content ?? null);
      assert.equal(type, status === 204 || status === 304 ? null : declared);
    } else {
      const { detail, status: declared } = ERRORS[body.code as keyof typeof ERRORS];
      assert.equal(status, declared);
      assert.ok((detail === 'items' ? ItemsError : TextError).Check(body), JSON.stringify(body));
    }
  }

  // First: arbitrary requests fill an organization up to what it may have.
  test('§5.2 lists nothing of another organization', async () => {
    const mark = `mark-${newId()}`;
    const made: Record<string, object> = {
      '/api/v1/scans': { ...PAGE, url: `https://shop.example/${mark}` },
      '/api/v1/campaigns': { ...CAMPAIGN, name: mark },
      '/api/v1/campaign-groups': { name: mark },
      '/api/v1/policy-sets': { name: mark, entries: [{ tag_slug: 'autosound' }] },
      '/api/v1/alert-notifications/destinations': {
        ...{ name: mark, channel: 'slack', slack: { webhook_url: 'https://hooks.example/1' } },
      },
      '/api/v1/custom-taxonomies': { name: mark },
      '/api/v1/account/api-keys': { name: mark },
      '/api/v1/webhooks': { url: `https://hooks.example.com/${mark}` },
    };
    for (const [path, body] of Object.entries(made)) assert.equal((await api.post(path, body)).status, 201, path);
    await raiseAlert(api, 'campaign', {}, { rule_type: 'brand', tag_slug: `brand:${mark}`, matched_value: mark });
    const lists = api.routes.filter(
      ({ method, path, permission }) =>
        method === 'GET' && !path.includes('{') && PERMISSIONS.some((one) => one === permission),
    );
    const shown: string[] = [];
    for (const { path } of lists) {
      const { text } = await api.get(path, { key: KEYS.theirs });
      assert.ok(!text.includes(mark), `${path} shows others what is ours`);
      if ((await api.get(path)).text.includes(mark)) shown.push(path);
    }
    const expected = [...Object.keys(made), '/api/v1/alerts'];
    assert.deepEqual(new Set(expected).difference(new Set(shown)), new Set(), 'lists that the owner sees');
  });

  test('§7.2.4 §9.2 gets a response that the OpenAPI document declares, and never a 500', async () => {
    // Forms of websites are in no document.
    const routes = api.routes.filter(({ path }) => path in document.paths) as unknown as Route<never>[];
    for (const route of routes) {
      const seen = new Set<number>();
      const [, id] = idsOf.find(([prefix]) => route.path.startsWith(prefix))!;
      const property = fc.asyncProperty(requestsOf(route, [id]), async ({ path, headers, body }) => {
        const sent = body === undefined ? {} : { raw: body };
        const answer = await api.call(route.method, path, { key: operators, headers, ...sent });
        assertDeclared(route, answer);
        seen.add(answer.status);
      });
      await fc.assert(property, { seed: SEED, numRuns: RUNS });
      if (201 in route.replies) assert.ok(seen.has(201), `no request to ${route.path} was taken`);
    }
    assert.equal((await api.get('/healthz')).status, 200);
  });

  /** What stands at the parameters of a path: something of the other organization. */
  const RESOURCES: [prefix: string, make: () => Promise<Record<string, string>>][] = [
    [
      '/api/v1/scans/{id}',
      async () => ({ id: (await api.post('/api/v1/scans', PAGE, { key: KEYS.theirs })).body.id, ord: '0' }),
    ],
    [
      '/api/v1/account/api-keys/{key_id}',
      async () => ({
        key_id: (await api.post('/api/v1/account/api-keys', { name: 'Theirs' }, { key: KEYS.theirs })).body.id,
      }),
    ],
    [
      '/api/v1/account/oauth-clients/{client_id}',
      async () => {
        const wanted = { name: 'Theirs', permissions: ['scans.read'] };
        return { client_id: (await api.post('/api/v1/account/oauth-clients', wanted, { key: KEYS.theirs })).body.id };
      },
    ],
    ['/api/v1/webhooks/deliveries/{attempt_id}', async () => ({ attempt_id: await theirAttempt() })],
    [
      '/api/v1/webhooks/{endpoint_id}',
      async () => {
        const body = { url: 'https://hooks.example.com/' };
        return { endpoint_id: (await api.post('/api/v1/webhooks', body, { key: KEYS.theirs })).body.webhook.id };
      },
    ],
    ['/api/v1/custom-rules/{id}', async () => ({ id: await theirRule() })],
    [
      '/api/v1/custom-taxonomies/{taxonomy_id}',
      async () => ({
        taxonomy_id: (await api.post('/api/v1/custom-taxonomies', { name: 'Theirs' }, { key: KEYS.theirs })).body.id,
      }),
    ],
    [
      '/api/v1/campaign-groups/{group_id}',
      async () => ({
        group_id: (await api.post('/api/v1/campaign-groups', { name: 'Theirs' }, { key: KEYS.theirs })).body.id,
      }),
    ],
    [
      '/api/v1/campaigns/{campaign_id}',
      async () => {
        const campaign = { name: 'Theirs', url: PAGE.url, country_codes: ['US'] };
        return { campaign_id: (await api.post('/api/v1/campaigns', campaign, { key: KEYS.theirs })).body.id };
      },
    ],
    [
      '/api/v1/runs/{run_id}',
      async () => {
        const campaign = { name: 'Theirs', url: PAGE.url, country_codes: ['US'] };
        const { id } = (await api.post('/api/v1/campaigns', campaign, { key: KEYS.theirs })).body;
        await api.post('/api/v1/scans', { ...PAGE, campaign_id: id }, { key: KEYS.theirs });
        return { run_id: (await api.get(`/api/v1/campaigns/${id}/runs`, { key: KEYS.theirs })).body.items[0].id };
      },
    ],
    [
      '/api/v1/alert-notifications/destinations/{destination_id}',
      async () => {
        const destination = { name: 'Theirs', channel: 'slack', slack: { webhook_url: 'https://hooks.example/1' } };
        const { body } = await api.post('/api/v1/alert-notifications/destinations', destination, { key: KEYS.theirs });
        return { destination_id: body.id };
      },
    ],
    [
      '/api/v1/alert-notifications/campaigns/{campaign_id}',
      async () => {
        const campaign = { name: 'Theirs', url: PAGE.url, country_codes: ['US'] };
        return { campaign_id: (await api.post('/api/v1/campaigns', campaign, { key: KEYS.theirs })).body.id };
      },
    ],
    [
      '/api/v1/policy-sets/{policy_set_id}',
      async () => {
        const set = { name: 'Theirs', entries: [{ tag_slug: 'autosound' }] };
        return { policy_set_id: (await api.post('/api/v1/policy-sets', set, { key: KEYS.theirs })).body.id };
      },
    ],
    [
      '/api/v1/alerts/{alert_id}',
      async () => ({ alert_id: await raiseAlert(api, 'campaign', {}, {}, { organizationId: ORGANIZATIONS.theirs }) }),
    ],
    ['/api/v1/tag-definitions/{slug}', async () => ({ slug: await registerTheirTag('their_tag') })],
  ];
  const theirAttempt = async () => {
    const attempt = { organization_id: ORGANIZATIONS.theirs, endpoint_id: 'theirs', event_id: newId(), attempts: 0 };
    const delivery = { ...attempt, _id: newId(), kind: 'scanning.scan.completed', state: 'waiting' };
    const answer = { at: new Date(), duration_ms: 1, status: 500, body: '', error_code: 'status' };
    await api.domains.delivery.stores.deliveries.tried(delivery as DeliveryRecord, answer, false);
    const [written] = (await api.domains.delivery.stores.deliveries.log(attempt, {}, { skip: 0, limit: 1 })).rows;
    return written!._id;
  };
  const theirRule = async () => {
    const rule = { name: 'Theirs', tag_slug: 'theirs', rule_type: 'stopword_url', config: { contains: ['x'] } };
    return (await api.post('/api/v1/custom-rules', rule, { key: KEYS.theirs })).body.id;
  };
  const registerTheirTag = async (slug: string) => {
    const words = {
      display_name: 'Theirs',
      description: '',
      category: 'custom',
      severity: 'low',
      visibility: 'public',
    };
    const tag = { slug, organization_id: ORGANIZATIONS.theirs, archived_at: null, ...words } as TagDefinition;
    await api.tags.register([tag], new Date());
    return slug;
  };
  /** Bodies of operations that do not take an empty one. */
  const BODIES: [suffix: string, body: object][] = [
    ['/version', { version: 'public' }],
    ['/overrides', { mode: 'silence' }],
    ['/policy-sets/{policy_set_id}', { name: 'Ours', entries: [{ tag_slug: 'autosound' }] }],
    ['/attach', { campaign_ids: [newId()] }],
    ['/detach', { campaign_ids: [newId()] }],
    ['/set-default', { is_default: true }],
    ['/preview', { days: 1 }],
    ['/status', { status: 'resolved' }],
    ['/test', { event_type: 'scanning.scan.completed' }],
    ['/{endpoint_id}/replay', { from_ts: '2026-03-01T00:00:00Z', to_ts: '2026-03-02T00:00:00Z' }],
  ];
  /** Paths whose parameters name nothing of an organization. */
  const OF_NOBODY = ['/api/v1/fleet/nodes/{id}/', '/api/v1/fleet/enrolments/{id}/', '/api/v1/organizations/{id}'];

  test('§5.2 for data of another organization gets 404', async () => {
    const withIds = api.routes.filter(({ path }) => path.startsWith('/api/') && path.includes('{'));
    for (const { method, path, body, replies, permission } of withIds) {
      if (OF_NOBODY.some((prefix) => path.startsWith(prefix)) || permission === 'organizations.manage') continue;
      const resource = RESOURCES.find(([prefix]) => path.startsWith(prefix));
      assert.ok(resource, `say in RESOURCES what ${path} is about`);
      const params = await resource[1]();
      const where = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
      const [, sent = {}] = BODIES.find(([suffix]) => path.endsWith(suffix)) ?? [];
      const { status } = await api.call(method, where, body ? { body: sent } : {});
      assert.equal(status, 404, `${method} ${path}`);
      if (method !== 'GET' || !replies[200]?.schema) continue;
      assert.equal((await api.get(where, { key: KEYS.theirs })).status, 200, `its owner finds ${path}`);
    }
  });

  test('§5.3 is refused with all permissions except the required one, and allowed with only that one', async () => {
    for (const permission of PERMISSIONS) {
      const [lacking, having] = [
        await api.keyThatMay(...PERMISSIONS.filter((one) => one !== permission)),
        await api.keyThatMay(permission),
      ];
      for (const route of api.routes.filter((one) => one.permission === permission)) {
        const where = route.path.replaceAll(/\{\w+\}/g, '0');
        const sent = route.body ? { body: {} } : {};
        const refused = await api.call(route.method, where, { key: lacking, ...sent });
        assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], `${route.method} ${route.path}`);
        assert.match(refused.body.detail, new RegExp(permission.replace('.', '\\.')));
        const { status } = await api.call(route.method, where, { key: having, ...sent });
        assert.ok(status !== 401 && status !== 403, `${route.method} ${route.path}: ${status}`);
      }
    }
  });
});
