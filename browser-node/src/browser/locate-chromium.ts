import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { CHROMIUM_UID, chromiumEnvironment } from '../config.ts';
import { type Account, chromiumAccount } from './chromium-profile.ts';

const KNOWN_PATHS = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * The Chromium to run: the configured one, or the first of the known paths. The headless shell comes first: it is two
 * to three times as fast and needs half the memory. Throws OperatorError with what to do where there is none.
 */
function findChromium(configured: string): string {
  if (configured) {
    if (isExecutable(configured)) return configured;
    throw new OperatorError(`CHROMIUM_PATH names ${configured}, which cannot be run`);
  }
  const found = KNOWN_PATHS.find(isExecutable);
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

/**
 * A Chromium on this machine; `version` such as `156.0.8078.79`, `account` null: it runs under this process's account.
 * `gatewayHosts`: the hosts of the gateways that it may use beside `127.0.0.1`.
 */
export type Chromium = {
  path: string;
  version: string;
  account: Account | null;
  sandbox: boolean;
  gatewayHosts: readonly string[];
};

/**
 * Finds Chromium and asks it for its version. `uid` is the user id that it runs under where this process is root.
 * Throws OperatorError when there is none, it cannot be run or does not print its version.
 */
export async function locateChromium(
  configured: string,
  {
    uid = CHROMIUM_UID,
    sandbox = true,
    gatewayHosts = [],
  }: { uid?: number; sandbox?: boolean; gatewayHosts?: readonly string[] } = {},
): Promise<Chromium> {
  const path = findChromium(configured);
  const account = chromiumAccount(uid);
  const version = /\d+(\.\d+){3}/.exec(await versionOutput(path, account))?.[0];
  if (!version) throw new OperatorError(`${path} --version prints no version`);
  return { path, version, account, sandbox, gatewayHosts };
}

async function versionOutput(path: string, account: Account | null): Promise<string> {
  const confined = { ...account, cwd: '/', env: chromiumEnvironment('/nonexistent') };
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], {
      ...confined,
      timeout: 10_000,
      killSignal: 'SIGKILL',
    });
    return stdout;
  } catch (error) {
    throw new OperatorError(explainStartError({ path, account }, error as Error), { cause: error });
  }
}

/** Linux kernel settings that can forbid user namespaces, and the command that allows them. */
const KERNEL_SETTINGS: { name: string; forbids: string; remedy: string }[] = [
  { name: 'user.max_user_namespaces', forbids: '0', remedy: 'sysctl -w user.max_user_namespaces=15000' },
  { name: 'kernel.unprivileged_userns_clone', forbids: '0', remedy: 'sysctl -w kernel.unprivileged_userns_clone=1' },
  {
    name: 'kernel.apparmor_restrict_unprivileged_userns',
    forbids: '1',
    remedy: 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  },
];

/** The value of a kernel setting, such as `user.max_user_namespaces`; null where the system has none of that name. */
export type ReadKernelSetting = (name: string) => string | null;

const readKernelSetting: ReadKernelSetting = (name) => {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8').trim();
  } catch {
    return null;
  }
};

/**
 * Why Chromium does not start, in one sentence with the command to type. `error`: the launch error with Chromium's
 * stderr.
 */
export function explainStartError(
  { path, account }: { path: string; account: Account | null },
  error: Error,
  kernelSetting: ReadKernelSetting = readKernelSetting,
): string {
  if (/No usable sandbox|setuid_sandbox_host|Failed to move to new namespace/.test(error.message))
    return sandboxProblem(kernelSetting);
  const code = (error as NodeJS.ErrnoException).code;
  if (account && (code === 'EPERM' || code === 'EINVAL'))
    return `Chromium cannot be started as user ${account.uid}, because this root user may not change its identity (${code}): run Adsweep as an ordinary user, or set ADSWEEP_CHROMIUM_UID to a user id that exists in this container`;
  if (account && code === 'EACCES')
    return `${path} cannot be run by user ${account.uid}, which Chromium runs under: set CHROMIUM_PATH to a Chromium that every user may run, such as one below /usr or /opt, or type chmod -R o+rX for its folder and those above it`;
  return `Chromium does not start: ${error.message}`;
}

function sandboxProblem(kernelSetting: ReadKernelSetting): string {
  const cause = KERNEL_SETTINGS.find(({ name, forbids }) => kernelSetting(name) === forbids);
  const what = cause
    ? `${cause.name} is ${cause.forbids}: type ${cause.remedy} as root`
    : 'user namespaces are refused, as by the default seccomp profile of a container: give the container one that allows them';
  return `Chromium's sandbox does not work on this machine, because ${what}, or start with ADSWEEP_CHROMIUM_SANDBOX=off and scan only pages that you trust`;
}
