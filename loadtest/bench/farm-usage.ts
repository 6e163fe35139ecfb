import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { commandOf, descendantsOf, temporaryFolder } from '../../infra/farm/test/support/processes-of.ts';
import type { RunningFarm } from '../../infra/farm/test/support/running-farm.ts';
import { proportionalMib } from './cpu-of-tree.ts';

/** What the processes of a part hold: proportional memory in MiB, open file descriptors, and how many they are. */
export type PartUsage = { memory: number; descriptors: number; processes: number };

/** What a farm holds, by part; `files`: entries of the folder that all its processes keep their temporary files in. */
export type FarmUsage = { parts: Record<Part, PartUsage>; files: number };

export const PARTS = ['browser node', 'Chromium', 'control plane', 'proxy router', 'Redis'] as const;
export type Part = (typeof PARTS)[number];

const READINGS = 4;
const READING_EVERY_MS = 1_500;

/** What an idle farm holds: the least of several readings, so that what is about to be given back is not counted. Linux only (proc(5)). */
export async function usageAtRest(farm: RunningFarm): Promise<FarmUsage> {
  const readings: FarmUsage[] = [];
  while (readings.length < READINGS) {
    await pause(READING_EVERY_MS);
    readings.push(usageNow(farm));
  }
  const least = (of: (usage: FarmUsage) => number) => Math.min(...readings.map(of));
  const parts = PARTS.map((part) => [
    part,
    {
      memory: least(({ parts }) => parts[part].memory),
      descriptors: least(({ parts }) => parts[part].descriptors),
      processes: least(({ parts }) => parts[part].processes),
    },
  ]);
  return { parts: Object.fromEntries(parts), files: least(({ files }) => files) };
}

function usageNow(farm: RunningFarm): FarmUsage {
  const node = farm.pidOf('browser-node 1');
  const below = descendantsOf(node);
  const pids: Record<Part, string[]> = {
    'browser node': [String(node), ...below.filter((pid) => !isChromium(pid))],
    Chromium: below.filter(isChromium),
    'control plane': withDescendants(farm.pidOf('control-plane')),
    'proxy router': withDescendants(farm.pidOf('proxy-router')),
    Redis: withDescendants(farm.pidOf('redis')),
  };
  const parts = PARTS.map((part) => [part, usageOf(pids[part])]);
  return { parts: Object.fromEntries(parts), files: entriesOf(temporaryFolder(farm.dataDir)).length };
}

const isChromium = (pid: string): boolean => /chrom/i.test(commandOf(pid));
const withDescendants = (pid: number): string[] => [String(pid), ...descendantsOf(pid)];

function usageOf(pids: string[]): PartUsage {
  return {
    memory: pids.reduce((sum, pid) => sum + proportionalMib(Number(pid)), 0),
    descriptors: pids.reduce((sum, pid) => sum + entriesOf(`/proc/${pid}/fd`, false).length, 0),
    processes: pids.length,
  };
}

/** A folder, or what is in it, may go while it is read. */
function entriesOf(folder: string, recursive = true): string[] {
  try {
    return readdirSync(folder, { recursive }) as string[];
  } catch {
    return [];
  }
}
