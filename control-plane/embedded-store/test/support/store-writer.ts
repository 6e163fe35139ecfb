import { writeSync } from 'node:fs';
import { openEmbedded } from '../../src/open-embedded.ts';

/**
 * A process that writes until it is killed: `node store-writer.ts FILE FIRST` inserts documents FIRST, FIRST + 1, ...
 * and counts them in another, and says each number on its standard output once the store has acknowledged both.
 */
const [path, first] = process.argv.slice(2);
const store = await openEmbedded(path!);
const written = store.collection<{ _id: string; n: number; filling: string }>('written');
const counter = store.collection<{ _id: string; n: number }>('counter');
await written.createIndex({ n: 1 }, { unique: true });
for (let n = Number(first); ; n++) {
  await written.insertOne({ _id: `w${n}`, n, filling: 'x'.repeat(n % 3000) });
  await counter.updateOne({ _id: 'count' }, { $set: { n } }, { upsert: true });
  writeSync(1, `${n}\n`);
}
