import { newId } from '@adsweep/shared/ids.ts';
import { loadScript, type RedisClient, removeMalformed } from './redis.ts';
import { createWakeSignal, type WakeSignal } from './wake-signal.ts';

/** Notifies the processes of a deployment that there is work. Hints may be lost, so waiting loops also poll. */
export type WakeHub = {
  /** The signal that this process waits on. Raising it does not wake other processes. */
  signal(topic: WakeTopic): WakeSignal;
  /** Wakes one waiting loop: in this process, or else in another one. */
  announce(topic: WakeTopic): void;
  /** Whether hints of other processes arrive. */
  isConnected(): boolean;
  stop(): void;
};

const CHANNEL = 'adsweep:wake:';

/** Polling interval of waiting loops while hints of other processes do not arrive. */
const POLL_WITHOUT_HINTS_MS = 1_000;

/**
 * A hub over Redis publish/subscribe, on a separate connection. Processes with waiting loops are listed in Redis; a
 * hint goes to one of them, which forwards it if none of its loops waits any more. While Redis is unavailable only this
 * process is woken.
 */
export function openWakeHub(redis: RedisClient): WakeHub {
  const self = newId();
  const signals = createSignals();
  const subscriber = redis.duplicate({ autoResubscribe: false });
  const waiting = waitingProcesses(redis, self, CHANNEL);
  const wakeOthers = gatherer(waiting.wakeOthers);
  let connected = false;

  const subscribe = async () => {
    await subscriber.subscribe(CHANNEL + self);
    connected = true;
    // Hints may have been lost while the connection was down: look for work.
    for (const topic of WAKE_TOPICS) signals[topic].wakeWaiting(Number.POSITIVE_INFINITY);
  };
  subscriber.on('ready', () => void subscribe().catch(() => undefined));
  subscriber.on('close', () => {
    connected = false;
    waiting.forget();
  });
  // Outages are logged by the connection for commands.
  subscriber.on('error', () => undefined);
  subscriber.on('message', (_channel, message) => {
    const { topic, count } = readHint(message);
    if (!topic) return;
    const left = count - signals[topic].wakeWaiting(count);
    if (left > 0) wakeOthers(topic, left);
  });
  const listing = setInterval(() => {
    for (const topic of WAKE_TOPICS) if (connected && signals[topic].waiting() > 0) void waiting.list(topic);
  }, LIST_AGAIN_EVERY_MS);
  listing.unref();

  const signalOf = (topic: WakeTopic) => ({
    ...signals[topic],
    async wait(ms: number, stop?: AbortSignal): Promise<void> {
      // Hints sent before this process was listed did not reach it: the caller polls once more, which also uses up a
      // kept raise.
      if (connected && !stop?.aborted && !waiting.isListed(topic) && (await waiting.list(topic)))
        return signals[topic].wait(0, stop);
      await signals[topic].wait(connected ? ms : Math.min(ms, POLL_WITHOUT_HINTS_MS), stop);
    },
  });
  const listed = byTopic(signalOf);

  return {
    signal: (topic) => listed[topic],
    announce(topic) {
      if (!signals[topic].raise()) wakeOthers(topic, 1);
    },
    isConnected: () => connected,
    stop() {
      clearInterval(listing);
      subscriber.disconnect();
    },
  };
}

/** Hints within this process only. */
export function singleProcessHints(): Omit<WakeHub, 'stop'> {
  const signals = createSignals();
  return {
    signal: (topic) => signals[topic],
    announce: (topic) => void signals[topic].raise(),
    isConnected: () => false,
  };
}

const createSignals = (): Record<WakeTopic, WakeSignal> =>
  byTopic((topic) => (topic === 'jobs' ? createWakeSignal() : createWakeSignal(1)));

/** Calls `send` once at a time per topic; counts that arrive in the meantime are sent together. */
function gatherer(send: (topic: WakeTopic, count: number) => Promise<void>): (topic: WakeTopic, count: number) => void {
  const unsent = byTopic(() => 0);
  const isSending = byTopic(() => false);

  const sendAll = async (topic: WakeTopic) => {
    isSending[topic] = true;
    while (unsent[topic] > 0) {
      const count = unsent[topic];
      unsent[topic] = 0;
      await send(topic, count);
    }
    isSending[topic] = false;
  };
  return (topic, count) => {
    unsent[topic] += count;
    if (!isSending[topic]) void sendAll(topic);
  };
}

/** Parses `<topic> <count>`. Not trusted: any Redis client can publish. */
function readHint(message: string): { topic: WakeTopic | undefined; count: number } {
  const [name, count] = message.split(' ');
  const safeCount = Math.min(Math.max(1, Math.floor(Number(count)) || 1), 1_000_000);
  return { topic: WAKE_TOPICS.find((topic) => topic === name), count: safeCount };
}

/**
 * Kinds of work: crawl jobs to lease, crawled scans to analyse (`checks`), outbox entries of scans and of other records
 * to process, deliveries to send.
 */
const WAKE_TOPICS = ['jobs', 'checks', 'scan-outbox', 'outbox', 'runs', 'deliveries'] as const;
export type WakeTopic = (typeof WAKE_TOPICS)[number];

const byTopic = <T>(of: (topic: WakeTopic) => T): Record<WakeTopic, T> =>
  Object.fromEntries(WAKE_TOPICS.map((topic) => [topic, of(topic)])) as Record<WakeTopic, T>;

/** A process counts as waiting for this long after it was listed; it is listed again before that. */
const LISTED_MS = 15_000;
const LIST_AGAIN_EVERY_MS = 5_000;

const waitingKey = (topic: WakeTopic): string => `adsweep:waiting:${topic}`;

const [awaitWork, wakeAnother] = ['await-work', 'wake-another'].map((name) =>
  loadScript(new URL(`scripts/${name}.lua`, import.meta.url)),
);

/**
 * The list of processes with waiting loops, in Redis, as used by the process `self`. Each process subscribes to
 * `channel` + its id.
 */
function waitingProcesses(redis: RedisClient, self: string, channel: string) {
  /** Until when this process is listed, by its own clock; a little earlier than in Redis. */
  const listedUntil = byTopic(() => 0);

  return {
    isListed: (topic: WakeTopic): boolean => performance.now() < listedUntil[topic],

    /** Lists this process; returns whether Redis confirmed it. */
    async list(topic: WakeTopic): Promise<boolean> {
      const until = performance.now() + LISTED_MS - LIST_AGAIN_EVERY_MS / 2;
      try {
        await awaitWork!(redis, [waitingKey(topic)], [self, LISTED_MS]);
      } catch (error) {
        await removeMalformed(redis, waitingKey(topic), error);
        return false;
      }
      listedUntil[topic] = until;
      return true;
    },

    /** To be called when the connection was lost: this process may no longer be listed. */
    forget(): void {
      for (const topic of WAKE_TOPICS) listedUntil[topic] = 0;
    },

    /** Asks another process to wake `count` callers. To be called when none waits in this process. */
    async wakeOthers(topic: WakeTopic, count: number): Promise<void> {
      listedUntil[topic] = 0;
      const receivers = redis.isCluster ? 0 : 1;
      await wakeAnother!(redis, [waitingKey(topic)], [self, channel, `${topic} ${count}`, receivers]).catch(
        (error: unknown) => removeMalformed(redis, waitingKey(topic), error),
      );
    },
  };
}
