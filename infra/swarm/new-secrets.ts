import { spawnSync } from 'node:child_process';
import { newSecrets } from '../kubernetes/new-secrets.ts';

/** `node infra/swarm/new-secrets.ts`: creates the secrets of a farm in the Swarm that `docker` reaches, and prints its API key. */
const secrets = newSecrets();
for (const [key, value] of Object.entries(secrets)) {
  const name = key.replaceAll('.', '-');
  const { status, stderr } = spawnSync('docker', ['secret', 'create', name, '-'], { input: value, encoding: 'utf8' });
  if (status !== 0) {
    console.error(`${name}: ${stderr.trim()}`);
    process.exit(1);
  }
}
console.log(secrets['api-key']);
