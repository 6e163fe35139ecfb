import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { tagDefinitionStore } from '../../../src/reference/tags/tag-definition-store.ts';
import type { TagDefinition } from '../../../src/reference/tags/tag-definitions.ts';
import { type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';
import { sampleScan, sampleTag } from '../../support/sample-scan.ts';

const own: TagDefinition = {
  slug: 'casino',
  category: 'compliance',
  severity: 'high',
  visibility: 'internal',
  display_name: 'Casino',
  description: 'An offer to gamble.',
  organization_id: ORGANIZATIONS.ours,
  archived_at: null,
};
const TAGS = '/api/v1/tag-definitions';

describe('tag definitions', () => {
  let api: RunningApi;
  let operator: string;
  let manager: string;
  before(async () => {
    api = await runningApi();
    operator = await api.keyThatMay('custom_rules.manage', 'organizations.manage');
    manager = await api.keyThatMay('custom_rules.manage');
  });
  beforeEach(async () => {
    for (const name of ['tag_definitions', 'scans']) await api.store.collection(name).deleteMany({});
  });
  after(() => api.stop());

  const slugs = async (query = '', key = KEYS.ours) =>
    (await api.get(`${TAGS}${query}`, { key })).body.map(({ slug }: Json) => slug);
  const change = async (slug: string, verb: 'archive' | 'restore', key = manager) =>
    (await api.post(`${TAGS}/${slug}/${verb}`, undefined, { key })).status;

  /** A scan of our organization with these tags. */
  async function tagged(...found: string[]): Promise<string> {
    const tags = found.map((slug) => sampleTag(slug, 'seen'));
    const scan = sampleScan({ _id: newId(), organization_id: ORGANIZATIONS.ours, outbox: [], tags });
    await api.scans.insertUnlessExists(scan);
    return scan._id;
  }
  const shownOn = async (id: string) =>
    (await api.get(`/api/v1/scans/${id}/tags`)).body.map(({ tag_slug }: Json) => tag_slug);
  const foundBy = async (query: string) =>
    (await api.get(`/api/v1/scans?${query}`)).body.items.map(({ id }: Json) => id);

  it('§2.5.1 are the system’s and the organization’s own, each with category, severity and visibility', async () => {
    await api.tags.register([own], new Date());
    await tagged('casino');
    const { body } = await api.get(`${TAGS}/casino`);
    assert.deepEqual(body, {
      slug: 'casino',
      category: 'compliance',
      source: 'custom',
      display_name: 'Casino',
      description: 'An offer to gamble.',
      scope: 'personal',
      organization_id: ORGANIZATIONS.ours,
      visibility: 'internal',
      severity: 'high',
      scans_count: 1,
      rules_count: 0,
      linked_rules: [],
      archived_at: null,
    });
    assert.ok((await slugs()).includes('casino') && (await slugs()).includes('autosound'));
    assert.deepEqual(await slugs('?category=compliance'), ['casino']);
    assert.ok(!(await slugs('', KEYS.theirs)).includes('casino'), 'another organization does not know it');
    assert.equal((await api.get(`${TAGS}/casino`, { key: KEYS.theirs })).status, 404);
  });

  it('§2.5.2 are hidden on scans, in filters and in the list while they are archived', async () => {
    await api.tags.register([own], new Date());
    const scan = await tagged('casino', 'autosound');
    assert.deepEqual(await foundBy('tag=casino'), [scan]);
    assert.equal(await change('casino', 'archive'), 204);
    assert.deepEqual(await shownOn(scan), ['autosound']);
    assert.deepEqual(await foundBy('tag=casino'), []);
    assert.ok((await foundBy('tag=casino,autosound')).includes(scan));
    assert.deepEqual(await foundBy('tag=casino,autosound&tag_match=all'), []);
    assert.ok(!(await slugs()).includes('casino'));
  });

  it('§2.5.5 keep their assignments while archived, and show them again at once when restored', async () => {
    await api.tags.register([own], new Date());
    const scan = await tagged('casino');
    await change('casino', 'archive');
    assert.equal(await change('casino', 'restore'), 204);
    assert.deepEqual(await shownOn(scan), ['casino']);
    assert.ok((await foundBy('tag=casino')).includes(scan));
    assert.equal((await api.get(`${TAGS}/casino`)).body.archived_at, null);
  });

  it('§4.5.5 are listed with include_archived=true if they are archived ones of the organization', async () => {
    await api.tags.register([own], new Date());
    assert.deepEqual(await slugs('?include_archived=true'), []);
    await change('casino', 'archive');
    await change('autosound', 'archive', operator);
    assert.deepEqual(await slugs('?include_archived=true'), ['casino']);
    assert.match((await api.get(`${TAGS}/casino`)).body.archived_at, /^\d{4}-/, 'and it can be read');
  });

  it('§4.5.6 of the system that are archived are 404 for every organization', async () => {
    assert.equal(await change('autosound', 'archive', operator), 204);
    assert.equal((await api.get(`${TAGS}/autosound`)).status, 404);
    assert.ok(!(await slugs()).includes('autosound'));
    assert.ok(!(await slugs('', KEYS.theirs)).includes('autosound'));
    assert.equal(await change('autosound', 'restore', operator), 204);
    assert.ok((await slugs('', KEYS.theirs)).includes('autosound'));
  });

  it('can only be archived by their owner, and archiving twice keeps the first time', async () => {
    await api.tags.register([own], new Date());
    assert.equal(await change('autosound', 'archive'), 403, 'the platform’s are the operator’s');
    assert.equal(await change('casino', 'archive', KEYS.theirs), 404);
    assert.equal(await change('nowhere', 'archive'), 404);
    const reader = await api.keyThatMay('scans.read');
    assert.equal(await change('casino', 'archive', reader), 403);
    await change('casino', 'archive');
    const { archived_at } = (await api.get(`${TAGS}/casino`)).body;
    await change('casino', 'archive');
    assert.equal((await api.get(`${TAGS}/casino`)).body.archived_at, archived_at);
  });

  it('of the system take precedence over an organization’s tag with the same slug', async () => {
    await tagDefinitionStore(api.store).register([{ ...own, slug: 'autosound' }], new Date());
    assert.equal((await api.get(`${TAGS}/autosound`)).body.source, 'system');
  });

  it(
    '§2.5.15 are at most 2,000 of an organization with 2 MiB of texts; what does not fit is refused, also in a change',
    slow,
    async () => {
      const { tags } = api;
      const many = Array.from({ length: 1_999 }, (_, at) => ({
        ...own,
        slug: `tag-${at}`,
        description: 'x'.repeat(1_000),
      }));
      await tags.register(many, new Date());
      const [last, more] = [
        { ...own, slug: 'last' },
        { ...own, slug: 'one-more' },
      ];
      const outcomes = await Promise.allSettled([tags.register([last], new Date()), tags.register([more], new Date())]);
      assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      const describe = (slug: string, description: string) =>
        api.call('PATCH', `${TAGS}/${slug}`, { body: { description } });
      const statuses: number[] = [];
      for (let at = 0; at < 99 && statuses.at(-1) !== 409; at++)
        statuses.push((await describe(`tag-${at}`, 'é'.repeat(2_000))).status);
      assert.deepEqual([statuses[0], statuses.at(-1)], [204, 409]);
      assert.equal((await describe('tag-99', 'short')).status, 204, 'what gets smaller is accepted');
      const { body } = await api.get(TAGS);
      assert.ok(body.length > 2_000 && body.length < 2_100, `${body.length}`);
    },
  );
});
