import { newId } from '@adsweep/shared/ids.ts';
import type { RedisClient } from './redis.ts';

/** Messages by topic between all processes of a deployment. One may be lost, and those of different processes may change their order. */
export type Broadcast = {
  /** Sends to whoever listens now, in this process and in the others. */
  send(topic: string, message: string): void;
  /** Passes on each message of a topic until `stop` is called. Resolves when those of other processes arrive, or Redis is away. */
  listen(topic: string, receive: (message: string) => void): Promise<{ stop: () => void }>;
  stop(): void;
};

const CHANNEL = 'adsweep:topic:';
const channelOf = (topic: string): string => CHANNEL + topic;

/** Messages within one process. */
function processBroadcast() {
  const listeners = new Map<string, Set<(message: string) => void>>();
  return {
    topics: (): string[] => [...listeners.keys()],

    send(topic: string, message: string): void {
      for (const receive of listeners.get(topic) ?? []) receive(message);
    },

    async listen(topic: string, receive: (message: string) => void): Promise<{ stop: () => void }> {
      const all = listeners.get(topic) ?? new Set();
      listeners.set(topic, all.add(receive));
      return {
        stop: () => {
          all.delete(receive);
          if (all.size === 0 && listeners.get(topic) === all) listeners.delete(topic);
        },
      };
    },
  };
}

/**
 * Broadcasts over Redis publish/subscribe, on a connection of its own that is made for the first one who listens. While Redis is away
 * messages stay within the process; topics are subscribed to again when it is back.
 */
export function openBroadcast(redis: RedisClient): Broadcast {
  const self = newId();
  const here = processBroadcast();
  let subscriber: RedisClient | null = null;

  const subscribe = (connection: RedisClient, topics: string[]): Promise<unknown> =>
    topics.length === 0 ? Promise.resolve() : connection.subscribe(...topics.map(channelOf)).catch(() => undefined);

  const connect = (): RedisClient => {
    const connection = redis.duplicate({ autoResubscribe: false });
    connection.on('ready', () => void subscribe(connection, here.topics()));
    // The connection that commands go over logs outages.
    connection.on('error', () => undefined);
    connection.on('message', (channel, text) => {
      const end = text.indexOf(' ');
      if (text.slice(0, end) !== self) here.send(channel.slice(CHANNEL.length), text.slice(end + 1));
    });
    return connection;
  };

  return {
    send(topic, message) {
      here.send(topic, message);
      void redis.publish(channelOf(topic), `${self} ${message}`).catch(() => undefined);
    },

    async listen(topic, receive) {
      const listening = await here.listen(topic, receive);
      subscriber ??= connect();
      await subscribe(subscriber, [topic]);
      return {
        stop: () => {
          listening.stop();
          if (here.topics().includes(topic)) return;
          void subscriber?.unsubscribe(channelOf(topic)).catch(() => undefined);
        },
      };
    },

    stop: () => subscriber?.disconnect(),
  };
}
