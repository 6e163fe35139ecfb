import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { openDiskObjects } from '../../../src/platform/objects/disk-objects.ts';
import { type ObjectStore, ObjectsUnavailable } from '../../../src/platform/objects/object-store.ts';
import { openS3Objects } from '../../../src/platform/objects/s3-objects.ts';
import type { ArtifactRecord } from '../../../src/scanning/artifacts/artifact.ts';
import { gzJson, named, type RunningFarm, runningFarm, webp } from '../../support/running-farm.ts';
import { bucketOf, startS3Server } from '../../support/s3-server.ts';

const isUnavailable = (error: unknown) =>
  error instanceof NodeApiError && error.status === 503 && error.message.includes('unavailable');

it('a node gets no work while the bucket fails, because its results would be lost, and gets it afterwards', async () => {
  let isReachable = false;
  const openFiles = async (root: string): Promise<ObjectStore> => {
    const objects = await openDiskObjects(root);
    const ping = async () => {
      if (!isReachable) throw new ObjectsUnavailable('the bucket cannot be used');
    };
    return { ...objects, ping };
  };
  const farm = await runningFarm({ openFiles });
  try {
    const { _id } = await farm.submit();
    await assert.rejects(farm.acquireOne(), isUnavailable);
    assert.equal((await farm.read(_id)).status, 'pending');
    isReachable = true;
    assert.equal((await farm.acquireOne()).scan_id, _id);
  } finally {
    await farm.stop();
  }
});

describe('an upload to a bucket', () => {
  let server: Awaited<ReturnType<typeof startS3Server>>;
  let farm: RunningFarm;
  before(async () => {
    server = await startS3Server();
    const logger = createLogger('test', 'silent');
    farm = await runningFarm({ openFiles: async () => openS3Objects(bucketOf(server), logger) });
  });
  beforeEach(() => {
    server.requests.length = 0;
  });
  after(async () => {
    await farm.stop();
    await server.stop();
  });

  const lease = async () => {
    await farm.submit();
    const leased = await farm.acquireOne();
    server.requests.length = 0;
    return leased;
  };

  it('is one request: what arrives is hashed and inspected on its way', async () => {
    const [leased, picture] = [await lease(), await webp(30, 20)];
    await farm.node.upload(leased, 'landing-0.webp', 'image/webp', picture);
    await farm.node.upload(leased, 'bodies.json.gz', 'application/gzip', gzJson([]));
    assert.deepEqual(server.requests, ['PUT object', 'PUT object']);
    const stored = await farm.store.collection<ArtifactRecord>('artifacts').findOne({ name: 'landing-0.webp' });
    assert.deepEqual(
      [stored?.width, stored?.height, stored?.sha256],
      [30, 20, named('landing-0.webp', picture).sha256],
    );
  });

  it('that is refused leaves no object', async () => {
    const leased = await lease();
    const before = server.objects.size;
    const uploads = [
      ['landing-0.webp', Buffer.from('no picture')],
      ['bodies.json.gz', Buffer.alloc(300_000, 'no archive')],
    ] as const;
    for (const [name, bytes] of uploads)
      await assert.rejects(farm.node.upload(leased, name, 'image/webp', bytes), /422/);
    assert.equal(server.objects.size, before);
  });

  it('is answered with 503 while the bucket fails, and succeeds afterwards', slow, async () => {
    const [leased, picture] = [await lease(), await webp()];
    server.setOutage(503);
    await assert.rejects(farm.node.upload(leased, 'landing-0.webp', 'image/webp', picture), isUnavailable);
    server.setOutage(null);
    await farm.node.upload(leased, 'landing-0.webp', 'image/webp', picture);
  });

  it('is removed with its attempt, also when the attempt has many files', async () => {
    const leased = await lease();
    for (let ord = 0; ord < 3; ord++)
      await farm.node.upload(leased, `landing-${ord}.webp`, 'image/webp', await webp(10 + ord, 10));
    const ofScan = () => [...server.objects.keys()].filter((key) => key.includes(leased.scan_id)).length;
    assert.equal(ofScan(), 3);
    await farm.farm.dependencies.artifacts.removeOfScan(leased.scan_id);
    assert.equal(ofScan(), 0);
  });
});
