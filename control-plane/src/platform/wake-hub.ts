import { newId } from '@adsweep/shared/ids.ts';
import type { RedisClient } from './redis.ts';
import { createWakeSignal, type WakeSignal } from './wake-signal.ts';

/** What there can be to do: crawl jobs to lease, scans to check, outbox entries to carry out. */
const TOPICS = ['jobs', 'checks', 'outbox'] as const;
export type WakeTopic = (typeof TOPICS)[number];

/** Tells all processes of a deployment that there is something to do. Hints may be lost; whoever waits looks by itself now and then. */
export type WakeHub = {
  /** What this process waits on. Raising it wakes nobody elsewhere. */
  signal(topic: WakeTopic): WakeSignal;
  /** Wakes one that waits in this process, and one in each of the others. */
  announce(topic: WakeTopic): void;
  /** Whether hints of other processes arrive. */
  isConnected(): boolean;
  stop(): void;
};

const CHANNEL = 'adsweep:wake';

/** A hub over Redis publish/subscribe, on a connection of its own. While Redis is away only this process is woken. */
export function openWakeHub(redis: RedisClient): WakeHub {
  const self = newId();
  const signals = createSignals();
  const subscriber = redis.duplicate({ autoResubscribe: false });
  let connected = false;

  const subscribe = async () => {
    await subscriber.subscribe(CHANNEL);
    connected = true;
    // What was announced while the connection was away is looked for.
    for (const topic of TOPICS) signals[topic].wakeWaiting(Number.POSITIVE_INFINITY);
  };
  subscriber.on('ready', () => void subscribe().catch(() => undefined));
  subscriber.on('close', () => {
    connected = false;
  });
  // The connection that commands go over logs outages.
  subscriber.on('error', () => undefined);
  subscriber.on('message', (_channel, message) => {
    const { from, topic, count } = readHint(message);
    if (from !== self && topic) signals[topic].wakeWaiting(count);
  });

  const publish = publisher(redis, self);
  return {
    signal: (topic) => signals[topic],
    announce(topic) {
      signals[topic].raise();
      publish(topic);
    },
    isConnected: () => connected,
    stop: () => subscriber.disconnect(),
  };
}

/** Hints that reach this process alone. */
export function singleProcessHints(): Omit<WakeHub, 'stop'> {
  const signals = createSignals();
  return {
    signal: (topic) => signals[topic],
    announce: (topic) => signals[topic].raise(),
    isConnected: () => false,
  };
}

const createSignals = (): Record<WakeTopic, WakeSignal> => ({
  jobs: createWakeSignal(),
  checks: createWakeSignal(),
  outbox: createWakeSignal(),
});

/** Sends hints as `<process> <topic> <count>`; those that arise while one of their topic is on its way are sent together. */
function publisher(redis: RedisClient, self: string): (topic: WakeTopic) => void {
  const unsent = { jobs: 0, checks: 0, outbox: 0 };
  const isSending = { jobs: false, checks: false, outbox: false };

  const sendAll = async (topic: WakeTopic) => {
    isSending[topic] = true;
    while (unsent[topic] > 0) {
      const count = unsent[topic];
      unsent[topic] = 0;
      await redis.publish(CHANNEL, `${self} ${topic} ${count}`).catch(() => undefined);
    }
    isSending[topic] = false;
  };
  return (topic) => {
    unsent[topic] += 1;
    if (!isSending[topic]) void sendAll(topic);
  };
}

/** Whoever can publish can write anything. */
function readHint(message: string): { from: string; topic: WakeTopic | undefined; count: number } {
  const [from = '', name, count] = message.split(' ');
  return { from, topic: TOPICS.find((topic) => topic === name), count: Math.max(1, Number(count) || 1) };
}
