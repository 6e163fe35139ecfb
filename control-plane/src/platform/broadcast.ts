import { newId } from '@adsweep/shared/ids.ts';
import type { RedisClient } from './redis.ts';

/**
 * Sends messages by topic to all processes of a deployment. Messages can be lost, and messages of different processes
 * can be reordered.
 */
export type Broadcast = {
  /** Sends a message to the current listeners of a topic, in all processes. */
  send(topic: string, message: string): void;
  /**
   * Calls `receive` with each message of a topic until `stop` is called. Resolves when subscribed in Redis, or Redis is
   * unavailable.
   */
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
 * Broadcasts over Redis publish/subscribe, on a separate connection that is opened for the first listener. While Redis
 * is unavailable, messages only reach listeners in this process; topics are subscribed to again after the reconnect.
 */
export function openBroadcast(redis: RedisClient): Broadcast {
  const self = newId();
  const local = processBroadcast();
  let subscriber: RedisClient | null = null;

  const subscribe = (connection: RedisClient, topics: string[]): Promise<unknown> =>
    topics.length === 0 ? Promise.resolve() : connection.subscribe(...topics.map(channelOf)).catch(() => undefined);

  const connect = (): RedisClient => {
    const connection = redis.duplicate({ autoResubscribe: false });
    connection.on('ready', () => void subscribe(connection, local.topics()));
    // Outages are logged by the connection for commands.
    connection.on('error', () => undefined);
    connection.on('message', (channel, text) => {
      const end = text.indexOf(' ');
      if (text.slice(0, end) !== self) local.send(channel.slice(CHANNEL.length), text.slice(end + 1));
    });
    return connection;
  };

  return {
    send(topic, message) {
      local.send(topic, message);
      void redis.publish(channelOf(topic), `${self} ${message}`).catch(() => undefined);
    },

    async listen(topic, receive) {
      const listening = await local.listen(topic, receive);
      subscriber ??= connect();
      await subscribe(subscriber, [topic]);
      return {
        stop: () => {
          listening.stop();
          if (local.topics().includes(topic)) return;
          void subscriber?.unsubscribe(channelOf(topic)).catch(() => undefined);
        },
      };
    },

    stop: () => subscriber?.disconnect(),
  };
}
