import { availableParallelism, totalmem } from 'node:os';
import { type CgroupLimits, cgroupLimits, readFile } from './cgroup.ts';
import type { ResourceUsage } from './resource-usage.ts';

/**
 * A capture mostly waits for its page. The fewest and the most that a core is given; where between them, its load
 * decides.
 */
const PER_CORE = { least: 5, most: 10 };
/** Bytes of the renderers of most captures, and of Chromium's other processes, of which there is one set. */
export const BYTES_PER_SLOT = 256 * 1024 * 1024;
const OWN_BYTES = 512 * 1024 * 1024;
const SLOTS_MAX = 256;

/** The fewest and the most captures that a node runs at once. */
export type SlotBounds = { least: number; most: number };

/**
 * How many captures a node runs at once by default. `cores` and `memoryBytes` are what this process may use, which in a
 * container is less than the machine has.
 */
export function defaultSlots({ cores, memoryBytes }: { cores: number; memoryBytes: number }): SlotBounds {
  const inMemory = Math.floor((memoryBytes - OWN_BYTES) / BYTES_PER_SLOT);
  const at = (perCore: number) => Math.min(SLOTS_MAX, Math.max(1, Math.min(Math.floor(cores * perCore), inMemory)));
  return { least: at(PER_CORE.least), most: at(PER_CORE.most) };
}

/**
 * Shares of the CPU below which a node takes on more, and above which it takes on less: then captures only slow each
 * other down.
 */
const CPU = { more: 0.9, less: 0.98 };
/** The same of memory; the node takes no work at all above a threshold of its own. */
const MEMORY = { more: 0.8, less: 0.9 };

/**
 * How many captures a node runs at once from now on, if it ran up to `slots` so far and `busy` run now: one more while
 * all are taken and CPU and memory allow it, one less while they do not. A node that does not know its usage stays as
 * it is. Pure.
 */
export function nextSlots(
  slots: number,
  busy: number,
  { cpu, memory }: ResourceUsage,
  { least, most }: SlotBounds,
): number {
  if (cpu === null) return slots;
  const used = memory ?? 0;
  if (cpu > CPU.less || used > MEMORY.less) return Math.max(least, slots - 1);
  const mayGrow = busy >= slots && cpu < CPU.more && used < MEMORY.more;
  return mayGrow ? Math.min(most, slots + 1) : slots;
}

/** What this process may use of the machine that it runs on. */
export const thisMachine = (): { cores: number; memoryBytes: number } =>
  usableMachine(cgroupLimits(readFile), { cores: availableParallelism(), memoryBytes: totalmem() });

/**
 * What this process may use: the cores and the memory of the machine, or less where a control group limits it. Pure.
 */
export function usableMachine(
  { memory, cpu }: CgroupLimits,
  machine: { cores: number; memoryBytes: number },
): { cores: number; memoryBytes: number } {
  return {
    cores: Math.min(machine.cores, cpu?.limit ?? machine.cores),
    memoryBytes: Math.min(machine.memoryBytes, memory?.limit ?? machine.memoryBytes),
  };
}
