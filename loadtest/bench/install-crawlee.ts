import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The folder that Crawlee is installed in, exactly as the lock file in `crawlee` says, checksums included; and its version. */
export function installCrawlee(): { folder: string; version: string } {
  const source = join(import.meta.dirname, 'crawlee');
  const folder = join(import.meta.dirname, '../../.tools/crawlee');
  const installed = join(folder, 'node_modules/.package-lock.json');
  const lock = readFileSync(join(source, 'package-lock.json'), 'utf8');
  const isSame = existsSync(installed) && readFileSync(join(folder, 'package-lock.json'), 'utf8') === lock;
  if (!isSame) {
    mkdirSync(folder, { recursive: true });
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(source, file), join(folder, file));
    const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
    const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
    if (status !== 0) throw new Error('Crawlee could not be installed');
  }
  const { version } = createRequire(join(folder, 'package.json'))('@crawlee/playwright/package.json') as {
    version: string;
  };
  return { folder, version };
}
