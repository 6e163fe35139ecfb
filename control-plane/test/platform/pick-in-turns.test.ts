import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type DueByOrganization, FEW, pickingInTurns, takeInTurns } from '../../src/platform/pick-in-turns.ts';

type Due = { _id: string; organization_id: string };

/** Due records in a list; `reads` counts the records that were read. */
function listed(records: Due[]): DueByOrganization<Due> & { reads: number } {
  const ordered = () => records.toSorted((a, b) => (a.organization_id < b.organization_id ? -1 : 1));
  const due = {
    reads: 0,
    read(found: Due[], limit: number): Due[] {
      const taken = found.slice(0, limit);
      due.reads += taken.length;
      return taken;
    },
    first: async (limit: number) => due.read(ordered(), limit),
    organizationAfter: async (id: string) =>
      due.read(
        ordered().filter((one) => one.organization_id > id),
        1,
      )[0]?.organization_id ?? null,
    of: async (id: string, limit: number) =>
      due.read(
        records.filter((one) => one.organization_id === id),
        limit,
      ),
  };
  return due;
}

const recordsOf = (organization_id: string, count: number): Due[] =>
  Array.from({ length: count }, (_, index) => ({ _id: `${organization_id}-${index}`, organization_id }));

it('records are picked one of each organization in turn, whatever one of them has waiting, and each turn reads few', async () => {
  const records = [...recordsOf('a-small', 3), ...recordsOf('greedy', 10_000), ...recordsOf('modest', 2)];
  const due = listed(records);
  const pick = pickingInTurns();
  const turns: string[] = [];
  for (let step = 0; step < 8; step += 1)
    for (const { _id, organization_id } of await pick(due, 1)) {
      turns.push(organization_id);
      records.splice(
        records.findIndex((one) => one._id === _id),
        1,
      );
    }
  assert.deepEqual(turns.join(' '), 'a-small greedy modest a-small greedy modest a-small greedy');
  assert.ok(due.reads <= 8 * (FEW + 6), `${due.reads} records were read for 8 picks`);
});

it('several records at once are those of as many organizations, and more of one only where no other has any', async () => {
  const pick = pickingInTurns();
  const crowd = listed([...recordsOf('greedy', 1_000), ...recordsOf('modest', 1), ...recordsOf('other', 1)]);
  const picked = await pick(crowd, 8);
  const countOf = (organization: string) => picked.filter((one) => one.organization_id === organization).length;
  assert.deepEqual([countOf('greedy'), countOf('modest'), countOf('other')], [6, 1, 1]);
  assert.equal(new Set(picked.map(({ _id }) => _id)).size, 8, 'none is picked twice');
  assert.deepEqual(await pick(crowd, 0), []);
});

it('turns begin after the organization that was served last, and wrap around', () => {
  const candidates = new Map(['a', 'b', 'c'].map((id) => [id, [`${id}1`, `${id}2`]]));
  const first = () => 0;
  assert.deepEqual(takeInTurns(candidates, 'a', 4, first), ['b1', 'c1', 'a1', 'b2']);
  assert.deepEqual(takeInTurns(candidates, 'c', 9, first), ['a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
});

it('records that are not found by organization are picked beside those that are', async () => {
  const unfound = recordsOf('earlier', 100);
  const due = { ...listed(recordsOf('modest', 1)), first: async (limit: number) => unfound.slice(0, limit) };
  const picked = await pickingInTurns()(due, 3);
  assert.deepEqual(picked.map((one) => one.organization_id).sort(), ['earlier', 'earlier', 'modest']);
});
