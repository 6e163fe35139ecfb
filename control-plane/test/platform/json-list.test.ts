import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JsonListReader, NotAJsonList } from '../../src/platform/json-list.ts';

const BOUNDS = {
  accepts: (item: unknown): item is object => typeof item === 'object' && item !== null,
  itemsMax: 3,
  itemBytesMax: 8 * 1024 * 1024,
  fieldsMax: 3,
};

/** Reads `json` in pieces of so many bytes. */
function read(json: string, pieceBytes: number): object[] {
  const items: object[] = [];
  const reader = new JsonListReader(BOUNDS, (item) => items.push(item));
  const bytes = Buffer.from(json);
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.push(bytes.subarray(at, at + pieceBytes));
  reader.end();
  return items;
}

/** The CPU time of this thread that some work takes, in ms. */
function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The most CPU time that a reader takes for a piece of 16 KiB, in ms. */
function longestPieceMs(bytes: Buffer): number {
  const reader = new JsonListReader(BOUNDS);
  let longest = 0;
  for (let at = 0; at < bytes.length; at += 16_384)
    longest = Math.max(
      longest,
      cpuMs(() => reader.push(bytes.subarray(at, at + 16_384))),
    );
  return longest;
}

describe('a reader of JSON lists', () => {
  it('reads what JSON.parse reads, wherever the pieces end', () => {
    const lists = [
      '[]',
      ' [ ]\n',
      '[{}]',
      '[{},{"a":1}]',
      '[{"\\"}":"€]}{[,\\\\","b":[0].c}]'.replace('[0].c', 'null'),
    ];
    lists.push(JSON.stringify([{ a: '\u0000\\', b: 1.5, c: true }, { '': '"' }, { a: null }], null, 2));
    for (const list of lists)
      for (const pieceBytes of [1, 2, 3, 1_000]) assert.deepEqual(read(list, pieceBytes), JSON.parse(list), list);
  });

  it('refuses everything else', () => {
    const empty = [
      '',
      ' ',
      '{}',
      'null',
      '"[]"',
      '[',
      '[{}',
      '[{},',
      '[{},]',
      '[,{}]',
      '[{}{}]',
      '[]]',
      '[][]',
      '\ufeff[]',
    ];
    const items = ['[null]', '[[]]', '["a"]', '[1]', '[{"a":}]', '[{"a":[]}]', '[{"a":{}}]', '[{a:1}]', '[{"a":"\n"}]'];
    const large = ['[{},{},{},{}]', '[{"a":1,"b":2,"c":3,"d":4}]'];
    for (const list of [...empty, ...items, ...large])
      for (const pieceBytes of [1, 1_000]) assert.throws(() => read(list, pieceBytes), NotAJsonList, list);
  });

  it('takes no more CPU for any piece, also the last one of the largest item, than parsing that item takes', () => {
    const text = '\\"x€'.repeat(1_350_000);
    const bytes = Buffer.from(`[{"a":"${text}"}`);
    assert.ok(bytes.length > 8_000_000);
    // The fastest of three each, in turn: other processes of the machine can slow a run down, but not speed it up.
    const runs = [1, 2, 3].map(() => [longestPieceMs(bytes), cpuMs(() => JSON.parse(bytes.toString().concat(']')))]);
    const [longest, parsing] = [0, 1].map((at) => Math.min(...runs.map((run) => run[at]!))) as [number, number];
    assert.ok(longest < 2 * parsing, `${longest} ms, and ${parsing} ms to parse it`);
    const reader = new JsonListReader(BOUNDS);
    reader.push(bytes);
    const more = Buffer.from(`,{"a":"${text}${text}"}]`);
    assert.throws(() => reader.push(more), /too large/);
  });
});
