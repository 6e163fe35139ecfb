import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { benchConfig, loadAtStart } from './config.ts';

/** Above this load average of the last minute, a machine is not quiet. */
const QUIET = 0.3;
const load = (): number => loadavg()[0]!;
/** The load average of the last minute before this process began: its own start adds to what it would measure itself. */
const LOAD_BEFORE = loadAtStart() ?? load();

/** The longest wait for the load average to fall, which takes about two minutes after a benchmark. */
const WAIT_MAX_MS = 300_000;
const LOOK_EVERY_MS = 5_000;

/** Programs that benchmarks compare with or run on, by package; each of them where it is installed. */
const PACKAGES = ['playwright-core', 'bullmq', 'proxy-chain', 'koa', 're2js', 'ioredis'];

/**
 * Waits until the machine is quiet, and returns its load average of the last minute; throws if that takes more than five minutes. The setting allows
 * another load.
 */
export async function requireQuiet(): Promise<number> {
  const most = benchConfig().ADSWEEP_BENCH_LOAD_MAX_PERCENT / 100;
  const lateAt = performance.now() + WAIT_MAX_MS;
  if (load() > most) console.log(`waiting until the load average of the last minute is at most ${most}`);
  for (let now = load(); ; now = load()) {
    if (now <= most) return now;
    if (performance.now() > lateAt)
      throw new Error(
        `the load average is ${now.toFixed(2)}: stop what runs beside, or set ADSWEEP_BENCH_LOAD_MAX_PERCENT to more than ${Math.ceil(now * 100)}`,
      );
    await pause(LOOK_EVERY_MS);
  }
}

/** Under which conditions this process measured: commit, load before and after, versions. `peers`: versions of further programs. */
export function conditions(peers: Record<string, string>): string {
  const versions = Object.entries({ ...programVersions(), ...packageVersions(), ...peers }).map(
    ([name, version]) => `${name} ${version}`,
  );
  const loads = `load average ${LOAD_BEFORE.toFixed(2)} before and ${load().toFixed(2)} after`;
  const mark = LOAD_BEFORE > QUIET ? ' **The machine was not quiet before: these figures are not to be cited.**' : '';
  return `Commit ${commit()}; ${loads}; ${versions.join(', ')}.${mark}`;
}

function commit(): string {
  const id = outputOf('git', ['rev-parse', '--short=12', 'HEAD']).trim();
  if (id === '') return 'unknown';
  const code = ['--', ':(top)', ':(top,exclude)loadtest/results'];
  return outputOf('git', ['status', '--porcelain', '--untracked-files=no', ...code]).trim() !== ''
    ? `${id} with changes`
    : id;
}

function programVersions(): Record<string, string> {
  const number = /\d+(\.\d+){2,3}/;
  const all = {
    Chromium: number.exec(outputOf(benchConfig().CHROMIUM_PATH, ['--version']))?.[0],
    Redis: number.exec(outputOf('redis-server', ['--version']))?.[0],
  };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function packageVersions(): Record<string, string> {
  return Object.fromEntries(PACKAGES.flatMap((name) => versionOf(name).map((version) => [name, version])));
}

/** The installed version of a package; none where it is not installed. Some packages do not export their `package.json`. */
function versionOf(name: string): string[] {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    const file = join(folder, name, 'package.json');
    try {
      return [(JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version];
    } catch {
      // It may be in the next folder.
    }
  }
  return [];
}

/** What a program prints; '' where it is not there. */
const outputOf = (program: string, args: string[]): string =>
  spawnSync(program, args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .stdout ?? '';
