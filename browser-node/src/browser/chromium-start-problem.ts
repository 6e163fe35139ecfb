import { readFileSync } from 'node:fs';
import type { Account } from './chromium-account.ts';

/** Settings of the Linux kernel that can forbid user namespaces, and what to type where they do. */
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

/** Why Chromium does not start, in one sentence with what to type. `error`: what came of the start, Chromium's last words included. */
export function startProblem(
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
