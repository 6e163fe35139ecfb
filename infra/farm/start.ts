import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { loseUnwrittenOutput } from '@adsweep/shared/service/lose-unwritten-output.ts';
import { demoScan, sweepCommand } from '../demo/demo-scan.ts';
import { readFarmConfig, unreadVariables } from './config.ts';
import { lockDataDir } from './data-dir.ts';
import { Farm } from './farm.ts';

/** Time limit for stopping everything, which must take at most 10 s. */
const STOP_MS = 9_000;

const say = (text: string) => console.log(text);

/** Not an error of the farm: an exits file of your own need not lead to the ad world. */
const reportDemoFailure = (error: Error) => say(`  the demo scan failed: ${error.message}`);

/** Keeps the report's path, to which the API's root page links. */
const keepReport = (url: string, dataDir: string) =>
  writeFileSync(join(dataDir, 'demo-report'), new URL(url).pathname.replace(/^.*(?=r\/)/, ''));

async function main(): Promise<void> {
  loseUnwrittenOutput();
  const config = readFarmConfig(process.env);
  for (const name of unreadVariables(process.env)) say(`  ${name} is no setting: it has no effect`);
  const unlock = lockDataDir(config.ADSWEEP_DATA_DIR);
  const farm = new Farm(config, say);
  let stopping: Promise<void> | null = null;
  const stop = (code: number) => {
    if (stopping) return;
    say('adsweep: stopping, which takes up to 10 s');
    stopping = farm.stop(STOP_MS).finally(() => {
      unlock();
      say('adsweep: stopped');
      process.exit(code);
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(0));
  if (process.channel) process.on('disconnect', () => stop(0));

  try {
    const { baseUrl, localUrl, apiKey } = await farm.start();
    say(`adsweep ready ${baseUrl} key ${apiKey}`);
    if (process.env.ADSWEEP_CONSOLE !== 'off') say(`  open ${baseUrl}/console and sign in with the key above`);
    if (config.ADSWEEP_DEMO === 1) {
      await demoScan(localUrl, apiKey, say).then((url) => keepReport(url, config.ADSWEEP_DATA_DIR), reportDemoFailure);
      if (!stopping)
        say(
          `  to check every ad of a page, such as the six of the ad world's front page:\n  ${sweepCommand(baseUrl, apiKey)}`,
        );
    }
    if (!stopping) say(`  next: open ${baseUrl}/ for a first request of your own; Ctrl-C stops everything`);
  } catch (error) {
    if (stopping) return;
    console.error(`adsweep could not start: ${(error as Error).message}`);
    stop(1);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigError ? error.message : `adsweep could not start: ${(error as Error).message}`);
  process.exitCode = 1;
});
