import { createHash } from 'node:crypto';

/** The keys of one shard (shared/src/lease/PROTOCOL.md). The hash tag keeps them in one slot of a Redis Cluster. */
export function shardKeys(shard: number) {
  const prefix = `{q${shard}}:`;
  return {
    /** What every key of the shard begins with; scripts build the keys below from it. */
    prefix,
    job: (jobId: string) => `${prefix}job:${jobId}`,
    waiting: (organizationId: string, band: Band) => `${prefix}waiting:${band}:${organizationId}`,
    turns: (organizationId: string) => `${prefix}turns:${organizationId}`,
    node: (node: string) => `${prefix}node:${node}`,
    ring: `${prefix}ring`,
    delayed: `${prefix}delayed`,
    leased: `${prefix}leased`,
    fence: `${prefix}fence`,
  };
}

/** Which of an organization's two queues a job waits in: 0 for scans a person waits for, 1 for bulk and campaign scans. */
export type Band = 0 | 1;
/** Both queues, the one that goes first first. */
export const BANDS: readonly Band[] = [0, 1];

/** The shard of an organization: all its jobs are in one, so that its turn is kept in one place. */
export function shardOf(organizationId: string, shards: number): number {
  return createHash('sha1').update(organizationId).digest().readUInt32BE(0) % shards;
}
