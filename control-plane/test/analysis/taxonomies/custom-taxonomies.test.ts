import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { slow } from '../../../../shared/test/support/slow.ts';
import { AI_CATEGORIES } from '../../../src/analysis/classification/categories.ts';
import { classificationQuestion } from '../../../src/analysis/classification/classification-question.ts';
import { parseTaxonomy } from '../../../src/analysis/taxonomies/parse-taxonomy.ts';
import type { TaxonomyRecord } from '../../../src/analysis/taxonomies/taxonomy.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const PATH = '/api/v1/custom-taxonomies';
const VERTICALS = {
  name: 'Our Verticals!',
  nodes: [
    { client_id: 'a', name: 'Gambling', description: 'Games for money.' },
    { client_id: 'b', parent_client_id: 'a', name: 'Casino' },
    { client_id: 'c', name: 'Other', is_default: true },
  ],
};
/** So many nodes, each below the one before. */
const chainOf = (length: number) =>
  Array.from({ length }, (_, at) => ({
    client_id: `${at}`,
    name: `Node ${at}`,
    parent_client_id: at === 0 ? null : `${at - 1}`,
  }));

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
beforeEach(() => api.store.collection('custom_taxonomies').deleteMany({}));
after(() => api.stop());

const create = (change: object = {}, key = KEYS.ours) => api.post(PATH, { ...VERTICALS, ...change }, { key });

describe('custom taxonomies', () => {
  it('§4.5.20 are created with their tree, read, listed, changed, deleted and restored by their organization', async () => {
    const { status, body } = await create();
    assert.equal(status, 201, JSON.stringify(body));
    const { id, nodes, slug, version, is_active, organization_id } = body;
    assert.deepEqual([slug, version, is_active, organization_id], ['our-verticals', 1, true, ORGANIZATIONS.ours]);
    assert.deepEqual(
      nodes.map(({ level, position, name, is_default }: Json) => [level, position, name, is_default]),
      [
        [1, 0, 'Gambling', false],
        [2, 0, 'Casino', false],
        [1, 1, 'Other', true],
      ],
    );
    assert.deepEqual([nodes[0].parent_id, nodes[1].parent_id], [null, nodes[0].id]);
    assert.deepEqual((await api.get(`${PATH}/${id}`)).body, body);
    const [item] = (await api.get(PATH)).body;
    assert.deepEqual([item.id, item.node_count], [id, 3]);
    assert.equal((await create()).body.slug, 'our-verticals-2');

    const put = (change: object) => api.call('PUT', `${PATH}/${id}`, { body: change });
    assert.equal((await put({ name: ' Renamed ' })).body.version, 1);
    const changed = (await put({ nodes: chainOf(4) })).body;
    assert.deepEqual(
      [changed.version, changed.name, changed.nodes.length, changed.nodes[3].level],
      [2, 'Renamed', 4, 4],
    );

    assert.equal((await api.call('DELETE', `${PATH}/${id}`)).status, 204);
    const listed = async (query = '') => (await api.get(`${PATH}${query}`)).body.map((one: Json) => one.id === id);
    assert.deepEqual(await listed(), [false]);
    assert.deepEqual(await listed('?include_inactive=true'), [true, false]);
    assert.deepEqual((await api.get(`${PATH}/${id}`)).body.is_active, false);
    assert.equal((await api.post(`${PATH}/${id}/restore`)).status, 204);
    assert.deepEqual(await listed(), [true, false]);
  });

  it('§4.5.20 are refused if the tree is invalid, with each problem', async () => {
    const refusals = async (nodes: object[]) => itemsOf(await create({ nodes }));
    const node = (client_id: string, rest: object = {}) => ({ client_id, name: `Node ${client_id}`, ...rest });
    assert.deepEqual(await refusals([node('a'), node('a', { name: 'node A' })]), [
      'body.nodes.1.client_id duplicate',
      'body.nodes.1.name duplicate',
    ]);
    assert.deepEqual(await refusals([node('a', { parent_client_id: 'x' })]), [
      'body.nodes.0.parent_client_id not_found',
    ]);
    assert.deepEqual(await refusals(chainOf(5)), ['body.nodes.4.parent_client_id too_deep']);
    const circle = [node('a', { parent_client_id: 'b' }), node('b', { parent_client_id: 'a' })];
    assert.deepEqual(
      await refusals(circle),
      [0, 1].map((at) => `body.nodes.${at}.parent_client_id too_deep`),
    );
    assert.deepEqual(await refusals([node('a', { is_default: true }), node('b', { is_default: true })]), [
      'body.nodes.1.is_default duplicate',
    ]);
    assert.equal((await create({ nodes: Array.from({ length: 301 }, (_, at) => node(`${at}`)) })).status, 422);
    assert.equal((await create({ name: '  ' })).status, 422);
  });

  it('§4.5.20 are limited to five active ones', slow, async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => create()));
    const { id } = (await create()).body;
    assert.equal((await create()).body.code, 'custom_taxonomies.too_many');
    await api.call('DELETE', `${PATH}/${made[0]!.body.id}`);
    assert.equal((await create()).status, 201);
    assert.equal((await api.post(`${PATH}/${made[0]!.body.id}/restore`)).body.code, 'custom_taxonomies.too_many');
    assert.equal((await api.post(`${PATH}/${id}/restore`)).status, 204, 'what is active is not restored twice');
  });

  it('§4.5.20 are limited to five active ones, each with a slug of its own, when twenty are created or restored at once', async () => {
    const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();
    // All of them have counted the taxonomies before the first one is stored.
    const slow = ['insertOne', 'findOneAndUpdate'].map((method) =>
      api.intercept('custom_taxonomies', method, () => setTimeout(300)),
    );
    const made = await Promise.all(Array.from({ length: 20 }, () => create()));
    assert.deepEqual(statuses(made), [...Array(5).fill(201), ...Array(15).fill(409)]);
    const listed = (await api.get(PATH)).body;
    assert.equal(new Set(listed.map(({ slug }: Json) => slug)).size, 5);
    for (const { id } of listed) await api.call('DELETE', `${PATH}/${id}`);
    for (let at = 0; at < 3; at++) assert.equal((await create()).status, 201);
    const restored = await Promise.all(listed.map(({ id }: Json) => api.post(`${PATH}/${id}/restore`)));
    for (const done of slow) done();
    assert.deepEqual(statuses(restored), [204, 204, 409, 409, 409]);
  });

  it('§4.5.20 the twenty that were deleted last can be restored', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 23; at++) {
      ids.push((await create()).body.id);
      await api.call('DELETE', `${PATH}/${ids[at]}`);
    }
    const listed = (await api.get(`${PATH}?include_inactive=true`)).body.map(({ id }: Json) => id);
    assert.deepEqual(listed, ids.slice(3));
    assert.equal((await api.post(`${PATH}/${ids[0]}/restore`)).status, 404);
    assert.equal((await api.post(`${PATH}/${ids[3]}/restore`)).status, 204);
  });

  it('§4.5.20 are listed without reading the words of their nodes, and deleted ones only on request', async () => {
    const [{ body: kept }, { body: deleted }] = [await create(), await create()];
    await api.call('DELETE', `${PATH}/${deleted.id}`);
    const { taxonomies } = api.domains.analysis.stores;
    const read = async (withDeleted: boolean) => taxonomies.list(ORGANIZATIONS.ours, { withDeleted });
    const rows = await read(false);
    assert.deepEqual(
      rows.map(({ _id, nodes }) => [_id, nodes]),
      [[kept.id, kept.nodes.map(({ id }: Json) => ({ id }))]],
    );
    assert.equal((await read(true)).length, 2);
  });

  it('§4.5.21 need custom_taxonomies.manage to be written and scans.read to be read', async () => {
    const [reader, writer] = [await api.keyThatMay('scans.read'), await api.keyThatMay('custom_taxonomies.manage')];
    assert.deepEqual([(await create({}, reader)).status, (await create({}, writer)).status], [403, 201]);
    assert.deepEqual(
      [(await api.get(PATH, { key: reader })).status, (await api.get(PATH, { key: writer })).status],
      [200, 403],
    );
    assert.deepEqual((await api.get(PATH, { key: KEYS.theirs })).body, []);
  });
});

describe('§4.5.22 a pasted tree', () => {
  it('is read by its indentation, without bullets, with descriptions', async () => {
    const text = '\uFEFF- Gambling | Games for money\n    1.1 Casino\n\t\t* Slots\r\n  \n- 4chan\n';
    const { body } = await api.post(`${PATH}/parse-text`, { text });
    assert.deepEqual(body, {
      nodes: [
        { level: 1, name: 'Gambling', description: 'Games for money' },
        { level: 2, name: 'Casino', description: '' },
        { level: 3, name: 'Slots', description: '' },
        { level: 1, name: '4chan', description: '' },
      ],
      warnings: [],
    });
  });

  it('that is too deep, or has no or too long names, is corrected with warnings', () => {
    const deep = ['a', ' b', '  c', '   d', '    e', ' f', '| no name', 'x'.repeat(101)].join('\n');
    const { nodes, warnings } = parseTaxonomy(deep);
    assert.deepEqual(
      nodes.map(({ level }) => level),
      [1, 2, 3, 4, 4, 2, 1],
    );
    assert.equal(nodes.at(-1)!.name.length, 100);
    assert.deepEqual(warnings, [
      'Line 5: deeper than 4 levels',
      'Line 7: no name',
      'Line 8: a name of more than 100 characters',
    ]);
  });
});

describe("§2.1.16 a scan's node in custom taxonomies", () => {
  const taxonomy = async (change: object = {}): Promise<TaxonomyRecord> => {
    const { id } = (await create(change)).body;
    return (await api.store.collection<TaxonomyRecord>('custom_taxonomies').findOne({ _id: id }))!;
  };
  const answer = (custom: Record<string, string | null>) => ({
    ...{ ai_category: AI_CATEGORIES[0], ai_subcategory: null, iab_id: null },
    custom,
  });

  it("is the node of the model's answer, with the names of the tree", async () => {
    const verticals = await taxonomy();
    const question = classificationQuestion([verticals]);
    assert.match(question.task, /\nn1 Gambling: Games for money\.\nn2 Gambling > Casino\nn3 Other$/);
    const [place] = question.read(answer({ taxonomy_1: 'n2' }))!.classification.custom_taxonomies;
    assert.deepEqual(place, {
      ...{
        taxonomy_id: verticals._id,
        taxonomy_name: 'Our Verticals!',
        taxonomy_slug: 'our-verticals',
        taxonomy_version: 1,
      },
      leaf_node_id: verticals.nodes[1]!.id,
      ...{ tier1: 'Gambling', tier2: 'Casino', tier3: null, tier4: null, used_default: false },
    });
  });

  it('is the default node if none fits, or null if there is none; an unknown id is an unusable answer', async () => {
    const [withDefault, without] = [await taxonomy(), await taxonomy({ nodes: chainOf(1) })];
    const { read } = classificationQuestion([withDefault, await taxonomy({ nodes: [] }), without]);
    const [first, second, ...rest] = read(answer({ taxonomy_1: null, taxonomy_2: null }))!.classification
      .custom_taxonomies;
    assert.deepEqual([first!.tier1, first!.used_default, rest.length], ['Other', true, 0]);
    assert.deepEqual([second!.tier1, second!.leaf_node_id, second!.used_default], [null, null, false]);
    assert.equal(read(answer({ taxonomy_1: 'n9', taxonomy_2: null })), null);
  });
});
