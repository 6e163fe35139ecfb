import type { CgroupLimits } from './cgroup.ts';

/** A capture mostly waits for its page: this many keep a core busy. */
const SLOTS_PER_CORE = 5;
/** Bytes of the renderers of most captures, and of Chromium's other processes, of which there is one set. */
const BYTES_PER_SLOT = 256 * 1024 * 1024;
const OWN_BYTES = 512 * 1024 * 1024;
const SLOTS_MAX = 256;

/**
 * How many captures a node runs at once by default. `cores` and `memoryBytes` are what this process may use, which in a container is less
 * than the machine has.
 */
export function defaultSlots({ cores, memoryBytes }: { cores: number; memoryBytes: number }): number {
  const inMemory = Math.floor((memoryBytes - OWN_BYTES) / BYTES_PER_SLOT);
  return Math.min(SLOTS_MAX, Math.max(1, Math.min(Math.floor(cores * SLOTS_PER_CORE), inMemory)));
}

/** What this process may use: the cores and the memory of the machine, or less where a control group limits it. Pure. */
export function usableMachine(
  { memory, cpu }: CgroupLimits,
  machine: { cores: number; memoryBytes: number },
): { cores: number; memoryBytes: number } {
  return {
    cores: Math.min(machine.cores, cpu?.limit ?? machine.cores),
    memoryBytes: Math.min(machine.memoryBytes, memory?.limit ?? machine.memoryBytes),
  };
}
