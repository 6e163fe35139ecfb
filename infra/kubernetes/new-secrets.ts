import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
// By its path: this runs in a checkout without packages.
import { newApiKey, newSecret } from '../../shared/src/ids.ts';

/**
 * `node infra/kubernetes/new-secrets.ts [folder] | kubectl -n adsweep create -f -`: a Secret with everything that a farm needs, newly made. The
 * files of the folder are keys of it too, and win: `mongodb-url`, `redis-url` and `s3-secret-key` of a large farm. A Redis that reaches its `maxmemory`
 * refuses jobs; one that reaches the limit of its container would be killed, load the same data and be killed again.
 */
export function newSecrets(own: Record<string, string> = {}): Record<string, string> {
  const redisPassword = newSecret(32).replaceAll(/[-_]/g, 'A');
  return {
    'api-key': newApiKey(),
    'node-token': newSecret(32),
    'lease-secret': newSecret(32),
    'ticket-secret': newSecret(32),
    'secrets-key': newSecret(32),
    'metrics-token': newSecret(32),
    'redis-url': `redis://:${redisPassword}@redis:6379`,
    'redis.conf': `requirepass ${redisPassword}\nappendonly yes\nsave ""\nmaxmemory 384mb\nmaxmemory-policy noeviction\ndir /data\n`,
    ...own,
  };
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  const files = folder === undefined ? [] : readdirSync(folder);
  const own = Object.fromEntries(files.map((name) => [name, readFileSync(join(folder!, name), 'utf8').trimEnd()]));
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'secrets' }, stringData: newSecrets(own) };
  console.log(JSON.stringify(secret, null, 2));
}
