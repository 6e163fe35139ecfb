import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `node infra/kubernetes/seccomp-profile.ts`: writes `seccomp/profile.yaml` from Docker's profile of the browser node.
 * Docker decides by the capabilities and the processor of a container which rules count; containerd reads a profile of
 * a file as it is, so the rules that need a capability must not be in it.
 */

type Rule = {
  names: string[];
  action: string;
  args?: object[] | null;
  errnoRet?: number;
  includes?: Condition;
  excludes?: Condition;
};
type Condition = { caps?: string[]; arches?: string[]; minKernel?: string };
type DockerProfile = { defaultAction: string; defaultErrnoRet: number; syscalls: Rule[] };

/** Processors of the machines, as Docker and as the kernel's library name them. A rule for another one's calls does nothing there. */
const ARCHES = ['amd64', 'x86', 'x32', 'arm64', 'arm'];
const ARCHITECTURES = ['X86_64', 'X86', 'X32', 'AARCH64', 'ARM'].map((name) => `SCMP_ARCH_${name}`);

/** Whether a rule counts for a container without capabilities, on kernels since 4.8. */
const counts = ({ includes = {}, excludes = {} }: Rule): boolean =>
  !includes.caps?.length &&
  (includes.arches?.some((arch) => ARCHES.includes(arch)) ?? true) &&
  !excludes.arches?.some((arch) => ARCHES.includes(arch));

/** The profile of the OCI runtime specification for a container without capabilities. */
function profileFrom({ defaultAction, defaultErrnoRet, syscalls }: DockerProfile): object {
  const rules = syscalls.filter(counts).map(({ names, action, args, errnoRet }) => ({
    names,
    action,
    ...(args?.length && { args }),
    ...(errnoRet !== undefined && { errnoRet }),
  }));
  return { defaultAction, defaultErrnoRet, architectures: ARCHITECTURES, syscalls: rules };
}

/** The ConfigMap with the profile, as YAML. */
export function profileManifest(): string {
  const docker = readFileSync(join(import.meta.dirname, '../docker/seccomp-chromium.json'), 'utf8');
  const lines = JSON.stringify(profileFrom(JSON.parse(docker) as DockerProfile), null, 1).split('\n');
  return [
    '# Written by ../seccomp-profile.ts.',
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata: { name: seccomp-profile }',
    'data:',
    '  seccomp-chromium.json: |',
    ...lines.map((line) => `    ${line}`),
    '',
  ].join('\n');
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, 'seccomp/profile.yaml'), profileManifest());
