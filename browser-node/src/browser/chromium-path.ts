import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { promisify } from 'node:util';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { CHROMIUM_UID, chromiumEnvironment } from '../config.ts';
import { type Account, chromiumAccount } from './chromium-account.ts';
import { startProblem } from './chromium-start-problem.ts';

const KNOWN_PLACES = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * The Chromium to run: the configured one, or the first of the known places. The headless shell comes first: it is two to three
 * times as fast and needs half the memory. Throws with what to do where there is none.
 */
function findChromium(configured: string): string {
  if (configured) {
    if (isExecutable(configured)) return configured;
    throw new OperatorError(`CHROMIUM_PATH names ${configured}, which cannot be run`);
  }
  const found = KNOWN_PLACES.find(isExecutable);
  if (found) return found;
  throw new OperatorError('no Chromium was found: install the package chromium-headless-shell or set CHROMIUM_PATH');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A Chromium on this machine; `version` such as `156.0.8078.79`, `account` null: it runs as this process does. */
export type Chromium = { path: string; version: string; account: Account | null; sandbox: boolean };

/**
 * Finds Chromium and asks it for its version. `uid` is the user id that it runs under where this process is root. Throws OperatorError
 * when there is none, it cannot be run or does not say.
 */
export async function locateChromium(
  configured: string,
  { uid = CHROMIUM_UID, sandbox = true }: { uid?: number; sandbox?: boolean } = {},
): Promise<Chromium> {
  const path = findChromium(configured);
  const account = chromiumAccount(uid);
  const version = /\d+(\.\d+){3}/.exec(await saidVersion(path, account))?.[0];
  if (!version) throw new OperatorError(`${path} --version says no version`);
  return { path, version, account, sandbox };
}

async function saidVersion(path: string, account: Account | null): Promise<string> {
  const confined = { ...account, cwd: '/', env: chromiumEnvironment('/nonexistent') };
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], {
      ...confined,
      timeout: 10_000,
      killSignal: 'SIGKILL',
    });
    return stdout;
  } catch (error) {
    throw new OperatorError(startProblem({ path, account }, error as Error), { cause: error });
  }
}
