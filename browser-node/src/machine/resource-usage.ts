import type { NodeResource } from '@adsweep/shared/lease/messages.ts';
import { type CgroupLimits, cgroupLimits, field, type ReadText, usedCpuMicros, usedMemory } from './cgroup.ts';

/** The shares, from 0 to 1, of what this process may use that are in use; null where that is not known. */
export type ResourceUsage = Record<NodeResource, number | null>;

/** CPU time used since some moment, and how much there was, in the same unit. */
type CpuTimes = { used: number; available: number };

/** CPU usage is that of the last ten seconds. */
const CPU_WINDOW_MS = 10_000;

/**
 * Measures how much of what this process may use is in use: of memory the higher share of its control group's and the
 * machine's, of CPU its group's share, or the machine's where no group limits it. `clock` in ms.
 */
export class ResourceMeter {
  readonly #read: ReadText;
  readonly #clock: () => number;
  readonly #limits: CgroupLimits;
  #samples: { at: number; times: CpuTimes }[] = [];

  constructor(read: ReadText, clock: () => number) {
    this.#read = read;
    this.#clock = clock;
    this.#limits = cgroupLimits(read);
  }

  measure(): ResourceUsage {
    return { memory: this.#memory(), cpu: this.#cpu() };
  }

  #memory(): number | null {
    const { memory } = this.#limits;
    const ofGroup = memory && usedMemory(this.#read, memory);
    const shares = [ofGroup !== null && memory ? ofGroup / memory.limit : null, machineMemory(this.#read)];
    const known = shares.filter((share) => share !== null);
    return known.length > 0 ? Math.max(...known) : null;
  }

  #cpu(): number | null {
    const at = this.#clock();
    const times = this.#cpuTimes(at);
    if (!times) return null;
    this.#samples = [...this.#samples.filter((sample) => at - sample.at <= CPU_WINDOW_MS), { at, times }];
    const first = this.#samples[0]!.times;
    const available = times.available - first.available;
    return available > 0 ? (times.used - first.used) / available : null;
  }

  #cpuTimes(at: number): CpuTimes | null {
    const { cpu } = this.#limits;
    if (!cpu) return machineCpu(this.#read);
    const used = usedCpuMicros(this.#read, cpu);
    return used === null ? null : { used, available: at * 1000 * cpu.limit };
  }
}

/** The share of the machine's memory that is in use and cannot be reclaimed at once (proc_meminfo(5)). */
function machineMemory(read: ReadText): number | null {
  const text = read('/proc/meminfo');
  const [total, available] = [field(text, 'MemTotal'), field(text, 'MemAvailable')];
  return total && available !== null ? 1 - available / total : null;
}

/**
 * The CPU times of the machine, in clock ticks (proc_stat(5)): `steal`, which other virtual machines take, counts as
 * used.
 */
function machineCpu(read: ReadText): CpuTimes | null {
  const [, ...ticks] = (/^cpu +.*$/m.exec(read('/proc/stat') ?? '')?.[0] ?? '').split(/ +/).map(Number);
  const [user, nice, system, idle, iowait = 0, irq = 0, softirq = 0, steal = 0] = ticks;
  if (user === undefined || nice === undefined || system === undefined || idle === undefined) return null;
  const used = user + nice + system + irq + softirq + steal;
  return { used, available: used + idle + iowait };
}
