import { createSocket } from 'node:dgram';
import type { TestContext } from 'node:test';

/** The numbers of record types (RFC 1035 3.2.2, RFC 3596 2.1). */
const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;

/** What a name server knows: addresses as bytes by `A name` and `AAAA name`, the name that another stands for by `CNAME name`. */
export type NameRecords = Record<string, number[] | string>;

/** A name server (RFC 1035) that knows `records`, which may change; any other name does not exist. Its `ip:port`. */
export async function startNameServer(t: TestContext, records: NameRecords): Promise<string> {
  const server = createSocket('udp4');
  server.on('message', (query, from) => server.send(answerTo(query, records), from.port, from.address));
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${server.address().port}`;
}

function answerTo(query: Buffer, records: NameRecords): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const name = labels.join('.').toLowerCase();
  const isKnown = Object.keys(records).some((key) => key.endsWith(` ${name}`));
  const answers = recordsOf(name, query.readUInt16BE(at + 1), records);
  const header = [query[0]!, query[1]!, 0x81, isKnown ? 0x80 : 0x83, 0, 1, 0, answers.length, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(header), query.subarray(12, at + 5), ...answers]);
}

/** The addresses of a name, after the names that lead to it. */
function recordsOf(name: string, type: number, records: NameRecords): Buffer[] {
  const alias = records[`CNAME ${name}`];
  if (typeof alias === 'string') return [record(name, TYPES.CNAME, encoded(alias)), ...recordsOf(alias, type, records)];
  const family = type === TYPES.A ? 'A' : 'AAAA';
  const address = records[`${family} ${name}`];
  return typeof address === 'object' ? [record(name, type, Buffer.from(address))] : [];
}

/** A resource record of class IN that is good for a second. */
function record(name: string, type: number, content: Buffer): Buffer {
  return Buffer.concat([encoded(name), Buffer.from([0, type, 0, 1, 0, 0, 0, 1, 0, content.length]), content]);
}

const encoded = (name: string): Buffer =>
  Buffer.from([...name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]), 0]);
