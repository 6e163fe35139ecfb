import assert from 'node:assert/strict';
import { until } from '../../../shared/test/support/until.ts';
import type { CaptureRecord } from '../../src/crawling/captures/capture-record.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { PRICE_MICROS } from './open-plane.ts';
import { captureOf, type RunningFarm } from './running-farm.ts';
import type { LeaseOfFirst } from './simulated-node.ts';

/** The capture that every lease is completed with. */
export const SEEN = captureOf(['https://shop.example/']);

/**
 * Starts the loops of the farm and a node that completes whatever there is to lease; resolves when these scans have
 * ended.
 */
export async function processAll(farm: RunningFarm, ids: string[]): Promise<void> {
  farm.startLoops();
  const nodeId = 'node-that-works-off';
  const hasEnded = async () =>
    (await farm.store.collection<ScanRecord>('scans').countDocuments({ _id: { $in: ids }, completed_at: null })) === 0;
  await until(
    'every scan to end',
    async () => {
      const { leases } = await farm.node
        .acquire({ node_id: nodeId, max: 8, wait_ms: 100 })
        .catch(() => ({ leases: [] as LeaseOfFirst[] }));
      for (const lease of leases) await farm.node.complete(lease, SEEN);
      return hasEnded();
    },
    60,
  );
}

/** Each of these scans has completed, with one capture that was accepted, one event and one charge. */
export async function assertOnce(farm: RunningFarm, ids: string[]): Promise<void> {
  const scans = await Promise.all(ids.map((id) => farm.read(id)));
  assert.deepEqual(
    scans.map(({ status, error }) => `${status} ${error}`.trim()),
    scans.map(() => 'completed'),
  );
  const captures = await farm.store.collection<CaptureRecord>('captures').find({}).toArray();
  for (const { _id, capture, organization_id } of scans) {
    const own = captures.filter(({ scan_id }) => scan_id === _id).map((record) => record._id);
    assert.deepEqual(own, [capture?.id], 'one result was accepted');
    await until('its event and its charge', async () => {
      const [events, ledger] = await Promise.all([farm.eventsOf(organization_id), farm.ledgerOf(organization_id)]);
      return events.length > 0 && ledger.length > 0;
    });
    assert.deepEqual(
      (await farm.eventsOf(organization_id)).map(({ kind, sequence }) => [kind, sequence]),
      [['scanning.scan.completed', 1]],
    );
    assert.deepEqual(await farm.ledgerOf(organization_id), [[`charge:${_id}`, -PRICE_MICROS]]);
  }
}
