import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { LeaseClient, MemberLease } from '@adsweep/shared/lease/client.ts';
import { removeFiles } from '../src/capture/session/capture-outcome.ts';
import { StoredFile } from '../src/capture/session/stored-file.ts';
import { uploadFiles } from '../src/upload/upload-files.ts';

describe('a large file of a capture', () => {
  const temporary = process.env.TMPDIR;
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stored-file-test-'));
    process.env.TMPDIR = folder;
  });
  after(async () => {
    if (temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = temporary;
    await rm(folder, { recursive: true });
  });

  it('is written to the disk as it arrives, uploaded from there with its hash, and removed', async () => {
    const parts = Array.from({ length: 50 }, (_, at) => Buffer.alloc(10_000, `part ${at}`));
    const file = await StoredFile.create();
    for (const part of parts) file.append(part);
    await file.finish();
    assert.equal((await readdir(folder)).length, 1);
    const whole = Buffer.concat(parts);
    const sha256 = createHash('sha256').update(whole).digest('hex');
    const api = {
      async upload(_: MemberLease, __: string, ___: string, content: Blob) {
        assert.ok(Buffer.from(await content.arrayBuffer()).equals(whole));
        return { sha256, bytes: content.size };
      },
    } as unknown as LeaseClient;
    const files = [{ name: 'creative-video', contentType: 'video/mp4', bytes: file, width: 0, height: 0 }];
    const [artifact] = await uploadFiles(api, {} as MemberLease, files, new AbortController().signal);
    assert.deepEqual([artifact?.sha256, artifact?.bytes], [sha256, whole.length]);
    await removeFiles(files);
    assert.deepEqual(await readdir(folder), []);
  });

  it('leaves nothing behind if it is removed while it is written', async () => {
    const file = await StoredFile.create();
    file.append(Buffer.alloc(1_000_000));
    await file.remove();
    assert.deepEqual(await readdir(folder), []);
  });
});
