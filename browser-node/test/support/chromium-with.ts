import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Chromium } from '../../src/browser/locate-chromium.ts';
import { chromiumOfRun } from './chromium-of-run.ts';

/** The Chromium of this machine, by a command of its own that adds `flags`; `remove` deletes that command. */
export async function chromiumWith(flags: string[]): Promise<{ chromium: Chromium; remove: () => Promise<void> }> {
  const chromium = await chromiumOfRun();
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-test-chromium-'));
  const command = join(folder, 'chromium');
  await writeFile(command, `#!/bin/sh\nexec ${chromium.path} "$@" ${flags.join(' ')}\n`);
  await chmod(folder, 0o755);
  await chmod(command, 0o755);
  return { chromium: { ...chromium, path: command }, remove: () => rm(folder, { recursive: true, force: true }) };
}
