import { cpuSecondsByKind, processesOfTree } from './cpu-of-tree.ts';

/** Kinds of processes of a program that loads pages, in the order of their tables. */
export const PROCESS_KINDS = [
  'renderers',
  'browser process',
  'GPU process',
  'network service',
  'browser node, or the program itself',
  'control plane',
  'proxy-router',
  'Redis',
  'others',
] as const;
export type ProcessKind = (typeof PROCESS_KINDS)[number];

/** CPU seconds by kind of process. */
export type CpuByKind = Record<ProcessKind, number>;

/** CPU seconds that a program has used, ended processes included; without the ad world, which stands for the Internet. */
export function cpuByKind(root: number): CpuByKind {
  const seconds = cpuSecondsByKind(root, kindOf, endedKindOf);
  return Object.fromEntries(PROCESS_KINDS.map((kind) => [kind, seconds.get(kind) ?? 0])) as CpuByKind;
}

/** The process ids of the browsers of a program. */
export const browsersOf = (root: number): number[] =>
  processesOfTree(root, (command) => kindOf(command) === 'browser process');

export const sumOf = (cpu: CpuByKind): number => PROCESS_KINDS.reduce((sum, kind) => sum + cpu[kind], 0);

/** `to` minus `from`, times `share`. */
export function cpuBetween(from: CpuByKind, to: CpuByKind, share = 1): CpuByKind {
  return Object.fromEntries(PROCESS_KINDS.map((kind) => [kind, (to[kind] - from[kind]) * share])) as CpuByKind;
}

const SCRIPTS: [part: string, kind: ProcessKind | null][] = [
  ['infra/demo/', null],
  ['control-plane/src/', 'control plane'],
  ['proxy-router/src/', 'proxy-router'],
  ['browser-node/src/', 'browser node, or the program itself'],
  ['loadtest/bench/', 'browser node, or the program itself'],
  ['redis-server', 'Redis'],
];

/** The kind of a process by its command line; null for the ad world. Pure. */
export function kindOf(command: string): ProcessKind | null {
  if (isChromium(command)) {
    const type = /--type=(\S+)/.exec(command)?.[1];
    if (type === undefined) return 'browser process';
    if (type === 'renderer') return 'renderers';
    if (type === 'gpu-process') return 'GPU process';
    return command.includes('network.mojom.NetworkService') ? 'network service' : 'others';
  }
  const script = SCRIPTS.find(([part]) => command.includes(part));
  return script ? script[1] : 'others';
}

/** What the children of a process were that have ended: renderers are children of Chromium's zygote. Pure. */
export function endedKindOf(command: string): ProcessKind | null {
  if (isChromium(command)) return command.includes('--type=zygote') ? 'renderers' : 'others';
  return kindOf(command) === null ? null : 'others';
}

const isChromium = (command: string): boolean => /^\S*(chrom|headless)/i.test(command);
