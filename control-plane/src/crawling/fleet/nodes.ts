import { DEFAULT_POOL, type NodeReport } from '@adsweep/shared/lease/messages.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type NodeIdentity, nodeKeyOf } from './node-credential.ts';

/** A node that has not reported itself for this long is gone. */
const FORGOTTEN_AFTER_MS = 30_000;

/** One process of a node, as it described itself last. */
export type ReportedNode = Required<NodeReport> & { id: string; instance: string; seen_at: Date };

/** The browser nodes as they report themselves, in Redis: the hash `{nodes}:reports` by name and process. */
export type Nodes = ReturnType<typeof nodes>;

const REPORTS = '{nodes}:reports';
/** What a node of an earlier version does not say. */
const UNSAID = { pool: DEFAULT_POOL, labels: {}, overloaded: [] };

export function nodes(redis: RedisClient) {
  return {
    async report(node: Pick<NodeIdentity, 'nodeId' | 'instance'>, report: NodeReport, now: Date): Promise<void> {
      await redis.hset(REPORTS, { [nodeKeyOf(node)]: JSON.stringify({ report, seen_at: now.getTime() }) });
    },

    /** Nodes that reported themselves lately, by name; the others are forgotten. Rejects while Redis is away. */
    async list(now: Date): Promise<ReportedNode[]> {
      const texts = await redis.hgetall(REPORTS);
      const all = Object.entries(texts).map(([key, text]) => ({ key, ...(JSON.parse(text) as Stored) }));
      const isGone = ({ seen_at }: Stored) => seen_at < now.getTime() - FORGOTTEN_AFTER_MS;
      const gone = all.filter(isGone).map(({ key }) => key);
      if (gone.length > 0) await redis.hdel(REPORTS, ...gone);
      return all
        .filter((one) => !isGone(one))
        .map(({ key, report, seen_at }) => {
          const [id = '', instance = ''] = key.split('/');
          return { ...UNSAID, ...report, id, instance, seen_at: new Date(seen_at) };
        })
        .sort((a, b) => a.id.localeCompare(b.id) || a.instance.localeCompare(b.instance));
    },
  };
}

type Stored = { report: NodeReport; seen_at: number };
