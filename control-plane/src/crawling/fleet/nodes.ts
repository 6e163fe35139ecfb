import type { NodeReport } from '@adsweep/shared/lease/messages.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type NodeIdentity, nodeKeyOf } from './node-credential.ts';

/** A node that has not reported itself for this long is gone. */
const FORGOTTEN_AFTER_MS = 30_000;

export type ReportedNode = NodeReport & { id: string; seen_at: Date };

/** The browser nodes as they report themselves, in Redis: the hash `{nodes}:reports` by name and process. */
export type Nodes = ReturnType<typeof nodes>;

const REPORTS = '{nodes}:reports';

export function nodes(redis: RedisClient) {
  return {
    async report(node: Pick<NodeIdentity, 'nodeId' | 'instance'>, report: NodeReport, now: Date): Promise<void> {
      await redis.hset(REPORTS, { [nodeKeyOf(node)]: JSON.stringify({ report, seen_at: now.getTime() }) });
    },

    /** Nodes that reported themselves lately, by id; the others are forgotten. */
    async list(now: Date): Promise<ReportedNode[]> {
      const texts = await redis.hgetall(REPORTS);
      const all = Object.entries(texts).map(([id, text]) => ({ id, ...(JSON.parse(text) as Stored) }));
      const isGone = ({ seen_at }: Stored) => seen_at < now.getTime() - FORGOTTEN_AFTER_MS;
      const gone = all.filter(isGone).map(({ id }) => id);
      if (gone.length > 0) await redis.hdel(REPORTS, ...gone);
      return all
        .filter((one) => !isGone(one))
        .map(({ id, report, seen_at }) => ({ ...report, id: id.split('/')[0] ?? '', seen_at: new Date(seen_at) }))
        .sort((a, b) => a.id.localeCompare(b.id));
    },
  };
}

type Stored = { report: NodeReport; seen_at: number };
