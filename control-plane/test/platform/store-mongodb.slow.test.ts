import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { describeStore } from '../../embedded-store/test/conformance/describe-store.ts';
import { openStore } from '../../src/platform/store.ts';
import { startMongodbServer } from '../support/mongodb-server.ts';

/** What the stand-in for MongoDB cannot take. MongoDB itself is asked everything. */
const STAND_IN_LACKS = {
  'a pattern stands beside other conditions on the same field': 'it forgets the other conditions',
  '$regex with a null character is refused': 'it finds the character',
  'a document or an array is equal to an element as a whole': 'it matches fields of different elements',
  'two bounds on an array may hold for two elements, $elemMatch asks for one': 'it asks for one element always',
  '64-bit integers sort among the doubles, to their last digit': 'it compares them as doubles',
  'decimals sort among the other numbers, to their last digit': 'it compares them as doubles',
  'NaN equals NaN, is neither above nor below a number, and sorts before all of them': 'it sorts NaN above the numbers',
  'text sorts by code point past the first 65,536 too': 'it sorts by halves of surrogate pairs',
  'a path through null is refused': 'it makes a document of the null',
  'a document that stops matching while a search goes on is not given as one that does not match':
    'it gives documents as they are when they are sent',
  'insertMany that is refused in part counts what it stored': 'it counts the duplicates too',
  'E11000 names the fields and the values': 'its errors name the index alone',
};

const server = await startMongodbServer();
if (typeof server === 'string') test('the store over MongoDB', { skip: server });
else {
  after(() => server.stop());
  const open = () => openStore({ mongodbUrl: server.url });
  describeStore('the store over MongoDB', open, { leaveOut: server.isStandIn ? STAND_IN_LACKS : {} });

  const skip = !server.isStandIn && 'it may be a replica set, whose default waits too';
  test('a server in no replica set is asked to wait for its journal, unless the URL has a write concern', {
    skip,
  }, async () => {
    const concernOf = async (mongodbUrl: string) => {
      const store = await openStore({ mongodbUrl });
      const { writeConcern } = store.collection('things') as unknown as {
        writeConcern?: { w: unknown; journal: unknown };
      };
      await store.close();
      return [writeConcern?.w, writeConcern?.journal];
    };
    assert.deepEqual(await concernOf(server.url), ['majority', true]);
    assert.deepEqual(await concernOf(`${server.url}?w=1`), [1, undefined]);
  });
}

test('opening a store without a URL and a path is refused', async () => {
  await assert.rejects(openStore({}), /needs a MongoDB URL or the path of a file/);
});
