import type { NodeReport } from '@adsweep/shared/lease/messages.ts';
import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import type { Broadcast } from '../../platform/broadcast.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import { loadScript, type RedisClient, removeMalformed } from '../../platform/redis.ts';
import { rememberBriefly } from '../../platform/remember-briefly.ts';
import type { Store } from '../../platform/store.ts';
import { type NodeIdentity, nodeKeyOf } from './credentials.ts';

/** The most processes of nodes whose reports are kept: each reading of the fleet reads them all. */
export const NODES_MAX = 1_000;

/** The most processes of one enrolled node. Each registration makes one, and the node starts again now and then. */
export const PROCESSES_OF_ENROLLED_MAX = 16;

/** A node that has not reported for this long is no longer listed. */
const FORGOTTEN_AFTER_MS = 30_000;

/** The last report of a node's process. */
export type ReportedNode = Required<Omit<NodeReport, 'pool' | 'slots_max'>> & {
  id: string;
  instance: string;
  seen_at: Date;
  /** Absent: it has the join token. */
  is_enrolled?: boolean;
};

/**
 * The reports of browser nodes, in Redis: the hash `{nodes}:reports`, by name and process, and `{nodes}:slots`, how
 * many the last one with the join token had.
 */
export type Nodes = ReturnType<typeof nodes>;

const REPORTS = '{nodes}:reports';
const LAST_SLOTS = '{nodes}:slots';
const storeReport = loadScript(new URL('store-report.lua', import.meta.url));
const removeReports = loadScript(new URL('remove-reports.lua', import.meta.url));
/** Fields that nodes of earlier versions do not report. */
const REPORT_DEFAULTS = { labels: {}, overloaded: [], waits_for: [] };

/**
 * `clock` is that of Redis: the clocks of control planes can differ by minutes, and one would drop nodes that just
 * reported to another.
 */
export function nodes(redis: RedisClient, clock: () => Promise<Date> = () => timeOf(redis)) {
  const rejectMalformed = async (error: unknown): Promise<never> => {
    await removeMalformed(redis, REPORTS, error);
    throw error;
  };

  /** Nodes that have reported recently, by name; removes the others. Rejects while Redis is unavailable. */
  const list = async (): Promise<ReportedNode[]> => {
    const [now, texts] = await Promise.all([clock(), redis.hgetall(REPORTS).catch(rejectMalformed)]);
    // One from the future was stored before the clock of Redis was set back.
    const isRecent = ({ seen_at }: Stored) => Math.abs(now.getTime() - seen_at) <= FORGOTTEN_AFTER_MS;
    const all = Object.entries(texts).map(([key, text]) => ({ key, stored: jsonOrNull(text) as Stored | null }));
    const recent = all.flatMap(({ key, stored }) => (stored && isRecent(stored) ? [{ key, ...stored }] : []));
    const kept = new Set(recent.map(({ key }) => key));
    const gone = Object.entries(texts).filter(([key]) => !kept.has(key));
    if (gone.length > 0) await removeReports(redis, [REPORTS], gone.flat());
    return recent.sort(byKey).map(({ key, report, seen_at, is_enrolled = false }) => {
      const [id = '', instance = ''] = key.split('/');
      const { pool: _, ...rest } = report;
      return {
        ...REPORT_DEFAULTS,
        ...rest,
        id,
        instance,
        seen_at: new Date(seen_at),
        ...(is_enrolled && { is_enrolled }),
      };
    });
  };

  return {
    /**
     * Stores the report of a node; false: it is a new one, and {@link NODES_MAX} others have reported recently, or
     * {@link PROCESSES_OF_ENROLLED_MAX} of an enrolled node.
     */
    async report(
      { enrolment = '', ...node }: Pick<NodeIdentity, 'nodeId' | 'instance'> & Partial<Pick<NodeIdentity, 'enrolment'>>,
      report: NodeReport,
    ): Promise<boolean> {
      const isEnrolled = enrolment !== '';
      const stored: Stored = { report, seen_at: (await clock()).getTime(), ...(isEnrolled && { is_enrolled: true }) };
      const [slots, ownMax] = isEnrolled ? ['', PROCESSES_OF_ENROLLED_MAX] : [report.slots, NODES_MAX];
      const ofName = nodeKeyOf({ ...node, instance: '' });
      const args = [nodeKeyOf(node), JSON.stringify(stored), NODES_MAX, slots, ownMax, ofName];
      const store = () => storeReport(redis, [REPORTS, LAST_SLOTS], args).catch(rejectMalformed);
      if ((await store()) === 1) return true;
      await list();
      return (await store()) === 1;
    },

    list,

    /** Removes the reports of all processes of a node, by its name. */
    async forget(nodeId: string): Promise<void> {
      const keys = await redis.hkeys(REPORTS).catch(rejectMalformed);
      const own = keys.filter((key) => key.startsWith(nodeKeyOf({ nodeId, instance: '' })));
      if (own.length > 0) await redis.hdel(REPORTS, ...own);
    },

    /**
     * The number of slots of the node with the join token that reported last, also if it is long ago; null: Redis knows
     * of none.
     */
    async lastSlots(): Promise<number | null> {
      return Number(await redis.get(LAST_SLOTS).catch(() => null)) || null;
    },
  };
}

const byKey = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1);

async function timeOf(redis: RedisClient): Promise<Date> {
  const [seconds] = await redis.time();
  return new Date(Number(seconds) * 1000);
}

type Stored = { report: NodeReport; seen_at: number; is_enrolled?: boolean };

type MarkedNode = { _id: string; marked_at: Date };

/** Names of nodes for which the operator gave an instruction; it applies to every process with such a name. */
export type MarkedNodes = ReturnType<typeof markedNodes>;

/** How late a process may see a mark that another process set, where {@link MarkedNodes.hasLately} is asked. */
const MARKS_SEEN_MS = 1_000;

/** The names of blocked or of draining nodes. */
export function markedNodes(store: Store, collection: 'blocked_nodes' | 'draining_nodes') {
  const marked = store.collection<MarkedNode>(collection);
  const names = async (): Promise<string[]> => {
    const all = await marked.find({}).sort({ _id: 1 }).toArray();
    return all.map(({ _id }) => _id);
  };
  const lately = rememberBriefly(async () => new Set(await names()), MARKS_SEEN_MS);

  return {
    async add(nodeId: string, now: Date): Promise<void> {
      await insertOnce(marked, { _id: nodeId, marked_at: now });
      lately.forget('');
    },

    async remove(nodeId: string): Promise<void> {
      await marked.deleteOne({ _id: nodeId });
      lately.forget('');
    },

    /**
     * Whether a node is marked, or was a second ago. One query a second answers all nodes, which ask with each
     * heartbeat and long poll. Nothing that a mark must prevent may rest on it.
     */
    async hasLately(nodeId: string): Promise<boolean> {
      return (await lately('')).has(nodeId);
    },

    async has(nodeId: string): Promise<boolean> {
      return (await marked.findOne({ _id: nodeId })) !== null;
    },

    /** All names, sorted. */
    names,
  };
}

/** The operator's instructions for nodes, by their names. */
export type NodeMarks = { blocked: ReadonlySet<string>; draining: ReadonlySet<string> };

/** The reports of nodes, with the operator's instructions. `lastSlots`: see {@link Nodes}; null: none ever did. */
export type FleetReading = { nodes: ReportedNode[]; marks: NodeMarks; lastSlots: number | null };
export type FleetView = { read(): Promise<FleetReading> };

/** Reads both. Rejects while Redis is unavailable. */
export function fleetView(
  nodes: Pick<Nodes, 'list' | 'lastSlots'>,
  blocked: Pick<MarkedNodes, 'names'>,
  draining: Pick<MarkedNodes, 'names'>,
): FleetView {
  return {
    async read() {
      const [reported, lastSlots, blockedNames, drainingNames] = await Promise.all([
        nodes.list(),
        nodes.lastSlots(),
        blocked.names(),
        draining.names(),
      ]);
      const marks = { blocked: new Set(blockedNames), draining: new Set(drainingNames) };
      return { nodes: reported, marks, lastSlots };
    },
  };
}

/**
 * Notifies all control planes that the operator drains, blocks or revokes a node, so that its long poll ends. A message
 * may be lost: the node learns of it with its next report. One subscription per process serves all polls.
 */
export function orderBroadcast(broadcast: Pick<Broadcast, 'send' | 'listen'>) {
  const polls = new Map<string, Set<() => void>>();
  let listening: Promise<unknown> | null = null;
  return {
    announce: (nodeId: string): void => broadcast.send(ORDERS, nodeId),

    /** Calls `ordered` when there is an order for the node, until `stop` is called. */
    async watch(nodeId: string, ordered: () => void): Promise<{ stop: () => void }> {
      listening ??= broadcast.listen(ORDERS, (name) => {
        for (const call of polls.get(name) ?? []) call();
      });
      await listening;
      const own = polls.get(nodeId) ?? new Set();
      polls.set(nodeId, own.add(ordered));
      return {
        stop: () => {
          own.delete(ordered);
          if (own.size === 0 && polls.get(nodeId) === own) polls.delete(nodeId);
        },
      };
    },
  };
}

const ORDERS = 'node-drains';
