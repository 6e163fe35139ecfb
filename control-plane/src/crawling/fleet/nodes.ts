import { DEFAULT_POOL, type NodeReport } from '@adsweep/shared/lease/messages.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { RedisClient } from '../../platform/redis.ts';
import type { Store } from '../../platform/store.ts';
import { type NodeIdentity, nodeKeyOf } from './credentials.ts';

/** A node that has not reported itself for this long is gone. */
const FORGOTTEN_AFTER_MS = 30_000;

/** One process of a node, as it described itself last. */
export type ReportedNode = Required<NodeReport> & { id: string; instance: string; seen_at: Date };

/** The browser nodes as they report themselves, in Redis: the hash `{nodes}:reports` by name and process. */
export type Nodes = ReturnType<typeof nodes>;

const REPORTS = '{nodes}:reports';
/** What holds for a node of an earlier version, which does not report it. */
const REPORT_DEFAULTS = { pool: DEFAULT_POOL, labels: {}, overloaded: [] };

/** `clock` is Redis' own: those of two control planes may be minutes apart, and the one would forget whom the other has just heard. */
export function nodes(redis: RedisClient, clock: () => Promise<Date> = () => timeOf(redis)) {
  return {
    async report(node: Pick<NodeIdentity, 'nodeId' | 'instance'>, report: NodeReport): Promise<void> {
      const seen_at = (await clock()).getTime();
      await redis.hset(REPORTS, { [nodeKeyOf(node)]: JSON.stringify({ report, seen_at }) });
    },

    /** Nodes that reported themselves lately, by name; the others are forgotten. Rejects while Redis is away. */
    async list(): Promise<ReportedNode[]> {
      const [now, texts] = await Promise.all([clock(), redis.hgetall(REPORTS)]);
      const all = Object.entries(texts).map(([key, text]) => ({ key, ...(JSON.parse(text) as Stored) }));
      const isGone = ({ seen_at }: Stored) => seen_at < now.getTime() - FORGOTTEN_AFTER_MS;
      const gone = all.filter(isGone).map(({ key }) => key);
      if (gone.length > 0) await redis.hdel(REPORTS, ...gone);
      return all
        .filter((one) => !isGone(one))
        .map(({ key, report, seen_at }) => {
          const [id = '', instance = ''] = key.split('/');
          return { ...REPORT_DEFAULTS, ...report, id, instance, seen_at: new Date(seen_at) };
        })
        .sort((a, b) => a.id.localeCompare(b.id) || a.instance.localeCompare(b.instance));
    },
  };
}

async function timeOf(redis: RedisClient): Promise<Date> {
  const [seconds] = await redis.time();
  return new Date(Number(seconds) * 1000);
}

type Stored = { report: NodeReport; seen_at: number };

type MarkedNode = { _id: string; marked_at: Date };

/** Names of nodes with an instruction of the operator, whichever processes have these names. */
export type MarkedNodes = ReturnType<typeof markedNodes>;

/** The names of nodes that are shut out, or that are to finish what they have and take no more. */
export function markedNodes(store: Store, collection: 'blocked_nodes' | 'draining_nodes') {
  const marked = store.collection<MarkedNode>(collection);
  return {
    async add(nodeId: string, now: Date): Promise<void> {
      await insertOnce(marked, { _id: nodeId, marked_at: now });
    },

    async remove(nodeId: string): Promise<void> {
      await marked.deleteOne({ _id: nodeId });
    },

    async has(nodeId: string): Promise<boolean> {
      return (await marked.findOne({ _id: nodeId })) !== null;
    },

    /** All of them, in the order of their names. */
    async names(): Promise<string[]> {
      const all = await marked.find({}).sort({ _id: 1 }).toArray();
      return all.map(({ _id }) => _id);
    },
  };
}

/** The operator's instructions for nodes, by their names. */
export type NodeMarks = { blocked: ReadonlySet<string>; draining: ReadonlySet<string> };

/** The nodes as they report themselves, with the operator's instructions for them. */
export type FleetView = { read(): Promise<{ nodes: ReportedNode[]; marks: NodeMarks }> };

/** Reads both at once. Rejects while Redis is away. */
export function fleetView(
  nodes: Pick<Nodes, 'list'>,
  blocked: Pick<MarkedNodes, 'names'>,
  draining: Pick<MarkedNodes, 'names'>,
): FleetView {
  return {
    async read() {
      const [reported, shutOut, toDrain] = await Promise.all([nodes.list(), blocked.names(), draining.names()]);
      return { nodes: reported, marks: { blocked: new Set(shutOut), draining: new Set(toDrain) } };
    },
  };
}
