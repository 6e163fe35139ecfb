import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { SubRequest } from '@adsweep/shared/capture/hop.ts';
import { captureReader } from '../../../src/crawling/captures/capture-record.ts';
import { chooseStored } from '../../../src/crawling/captures/choose-requests.ts';
import { evidenceOf } from '../../../src/crawling/captures/present-evidence.ts';
import { captureOf, requestOf } from '../../support/running-farm.ts';
import { sampleScan } from '../../support/sample-scan.ts';

const chain = ['https://a.example/', 'https://b.example/'];

describe('the requests that are stored with a scan', () => {
  it('§8.2 are all of them in their order if there are few', () => {
    const requests = [requestOf(1, { resource_type: 'media' }), requestOf(2), requestOf(3, { resource_type: 'image' })];
    assert.deepEqual(chooseStored(captureOf(chain, { requests }), 3), requests);
  });

  it('§8.2 are the most significant ones if there are many', () => {
    const types = ['media', 'stylesheet', 'font', 'image', 'Ping', 'XHR', 'fetch', 'Script', 'Document'];
    const requests = types.map((resource_type, id) => requestOf(id, { resource_type }));
    const chosen = (max: number) =>
      chooseStored(captureOf(chain, { requests }), max).map(({ resource_type }) => resource_type);
    assert.deepEqual(chosen(2), ['Script', 'Document']);
    assert.deepEqual(chosen(5), ['Ping', 'XHR', 'fetch', 'Script', 'Document']);
    assert.deepEqual(chosen(8), ['stylesheet', 'font', 'image', 'Ping', 'XHR', 'fetch', 'Script', 'Document']);
  });

  it('§8.2 do not include those of the hops, which do not count towards the limit', () => {
    const hops = chain.map((url, hop) => requestOf(hop, { url, hop, resource_type: 'document' }));
    const requests = [...hops, requestOf(2, { hop: 1 }), requestOf(3, { hop: 1 }), requestOf(4, { hop: 1 })];
    assert.deepEqual(
      chooseStored(captureOf(chain, { requests }), 2).map(({ id }) => id),
      [0, 1, 2, 3],
    );
  });
});

describe('the captures of scans', () => {
  it('§8.2 are read a few at a time, however many are asked for, and those of another organization in turn', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const read = captureReader({
      find: (id) => {
        begun.push(id);
        return new Promise((resolve) => ends.push(() => resolve(null)));
      },
    });
    const { capture } = sampleScan();
    const of = (organization_id: string, id: string) => read({ organization_id, capture: { ...capture!, id } });
    const all = Array.from({ length: 300 }, (_, at) => of('ours', `ours-${at}`));
    all.push(of('theirs', 'theirs-1'));
    await turn();
    assert.equal(begun.length, 4);
    ends[0]!();
    await turn();
    assert.equal(begun.at(-1), 'theirs-1');
    for (let at = 1; at < all.length; at++) {
      ends[at]!();
      await turn();
    }
    assert.equal((await Promise.all(all)).length, 301);
    assert.equal(await read({ organization_id: 'ours', capture: null }), null);
  });
});

describe('the landings that clients get', () => {
  const landingsOf = (capture: Capture) => evidenceOf({ capture, artifacts: [] }).landings;
  const document = { resource_type: 'document' };
  const shape = (tree: SubRequest[]): unknown[] => tree.map(({ url, children }) => [url.at(-1), shape(children)]);
  const treesOf = (requests: ReturnType<typeof requestOf>[]) =>
    landingsOf(captureOf(chain, { requests }))[0]?.redirect_chain.map(({ sub_requests }) => shape(sub_requests));

  it('have the requests of its document at each hop, as trees by initiator, and those of unknown origin at the last hop', () => {
    const requests = [
      requestOf(1),
      requestOf(2, { initiator: 1 }),
      requestOf(3, { initiator: 2 }),
      requestOf(4, { hop: 1 }),
      requestOf(5, { landing: null, hop: null }),
      requestOf(6, { landing: 3 }),
    ];
    assert.deepEqual(treesOf(requests), [
      [['1', [['2', [['3', []]]]]]],
      [
        ['4', []],
        ['5', []],
      ],
    ]);
  });

  it('§2.1.8 do not list a hop as its own sub-request, but list a frame with the URL of its page', () => {
    const [first, last] = chain;
    const requests = [
      requestOf(0, { ...document, url: first! }),
      requestOf(1, { ...document, url: last!, hop: 1 }),
      requestOf(2, { hop: 1, initiator: 1 }),
      requestOf(3, { ...document, url: `${last}#frame`, hop: 1, initiator: 1 }),
    ];
    assert.deepEqual(treesOf(requests), [
      [],
      [
        ['2', []],
        ['e', []],
      ],
    ]);
  });

  it('ignore initiators that form a cycle, come later or belong to another hop', () => {
    const requests = [
      requestOf(1, { initiator: 1 }),
      requestOf(2, { initiator: 3 }),
      requestOf(3, { initiator: 2 }),
      requestOf(4, { hop: 1, initiator: 1 }),
      requestOf(1, { initiator: 1 }),
    ];
    assert.deepEqual(treesOf(requests), [
      [
        ['1', [['1', []]]],
        ['2', [['3', []]]],
      ],
      [['4', []]],
    ]);
  });

  it('are sorted by ordinal and have the time at which they opened', () => {
    const capture = captureOf(chain);
    const [page] = capture.landings;
    capture.landings = [{ ...page!, ord: 2, opened_at_ms: 1_500 }, page!];
    const landings = landingsOf(capture);
    assert.deepEqual(
      landings.map(({ ord }) => ord),
      [0, 2],
    );
    assert.equal(landings[1]?.created_at.toISOString(), '2026-01-02T03:04:06.500Z');
    assert.equal(landingsOf({ ...capture, started_at: 'yesterday' })[0]?.created_at.getTime(), 0);
  });
});
