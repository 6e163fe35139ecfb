import { withoutBrackets } from '@adsweep/shared/urls/public-host.ts';

const CLUSTER_URL = /^(rediss?)\+cluster:\/\/(?:([^@]*)@)?([^@/]+)\/?$/;

/** The nodes of a cluster that are asked for the others, and how to connect to each. */
export type RedisCluster = ReturnType<typeof readClusterUrl>;

/** Whether a Redis can be opened by this URL. */
export function isRedisUrl(url: string): boolean {
  try {
    return (clusterOf(url) ?? addressOf(url)) !== null;
  } catch {
    return false;
  }
}

/**
 * The cluster of a URL `redis+cluster://` or `rediss+cluster://`; null: it has another scheme. Throws for one that
 * cannot be read.
 */
export const clusterOf = (url: string): RedisCluster | null => (CLUSTER_URL.test(url) ? readClusterUrl(url) : null);

function readClusterUrl(url: string) {
  const [, scheme = '', credentials, hosts = ''] = CLUSTER_URL.exec(url) ?? [];
  const urls = hosts.split(',').map((host) => new URL(`${scheme}://${credentials ? `${credentials}@` : ''}${host}`));
  const nodes = urls.map(({ hostname, port }) => ({ host: withoutBrackets(hostname), port: Number(port || 6379) }));
  return { nodes, ...credentialsOf(urls[0]!), ...(scheme === 'rediss' ? { tls: {} } : {}) };
}

/** The address of a single server: `redis://`, `rediss://` or `unix:///path`. Throws for a URL that cannot be read. */
export function addressOf(text: string) {
  const url = new URL(text);
  const { protocol, hostname, port, pathname, searchParams } = url;
  if (protocol === 'unix:')
    return { ...credentialsOf(url), path: decodeURIComponent(pathname), db: databaseOf(searchParams.get('db') ?? '') };
  if (protocol !== 'redis:' && protocol !== 'rediss:')
    throw new Error(`REDIS_URL has the scheme ${protocol}, not redis:, rediss: or unix:`);
  return {
    ...credentialsOf(url),
    host: withoutBrackets(hostname),
    port: Number(port || 6379),
    db: databaseOf(pathname.slice(1)),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

const credentialsOf = ({ username, password }: URL) => ({
  username: decodeURIComponent(username),
  password: decodeURIComponent(password),
});

function databaseOf(text: string): number {
  if (!/^\d*$/.test(text)) throw new Error('the database of REDIS_URL is not a number');
  return Number(text);
}
