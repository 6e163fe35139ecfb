import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../../shared/test/support/seeded-random.ts';
import type { CuttableLink } from './cuttable-link.ts';
import type { PrivateRedis } from './private-redis.ts';
import type { SignalledProcess } from './signalled-process.ts';

/** What can be harmed. */
export type ChaosTargets = {
  nodes: SignalledProcess[];
  controlPlanes: SignalledProcess[];
  redis: PrivateRedis;
  links: CuttableLink[];
  /** With these there is a fourth kind of fault. */
  routers?: SignalledProcess[];
  storage?: { setOutage: (status: number | null) => void };
};

/** How much harm is done: faults of each kind, and the longest that one lasts, in ms. */
export type ChaosPlan = { faults: number; lastsMs: number };

type Dice = { below: (limit: number) => number; oneOf: <T>(all: T[]) => T };

/**
 * Harms nodes, control planes, what lies between them, and proxy-routers and files, each kind one fault after the other
 * and all at the same time. When it resolves, everything works again; it begins no fault once `stopping` is aborted.
 * The same seed makes the same faults.
 */
export async function makeChaos(
  targets: ChaosTargets,
  { faults, lastsMs }: ChaosPlan,
  seed: number,
  stopping: AbortSignal,
): Promise<void> {
  const repeatedly = async (kind: number, fault: (dice: Dice) => Promise<void>) => {
    const dice = diceOf(seed + kind);
    for (let done = 0; done < faults && !stopping.aborted; done += 1) {
      await pause(dice.below(lastsMs));
      await fault(dice);
    }
  };
  await Promise.all([
    repeatedly(1, (dice) => harmProcess(dice, dice.oneOf(targets.nodes), lastsMs)),
    repeatedly(2, (dice) => harmProcess(dice, dice.oneOf(targets.controlPlanes), lastsMs)),
    repeatedly(3, (dice) => harmBetween(dice, targets, lastsMs)),
    targets.routers && repeatedly(4, (dice) => harmRouterOrFiles(dice, targets, lastsMs)),
  ]);
}

function diceOf(seed: number): Dice {
  const random = seededRandom(seed);
  const below = (limit: number) => random() * limit;
  return { below, oneOf: (all) => all[Math.floor(below(all.length))]! };
}

async function harmProcess(dice: Dice, process: SignalledProcess, lastsMs: number): Promise<void> {
  const isKill = dice.below(2) < 1;
  if (isKill) await process.kill();
  else process.pause();
  await pause(dice.below(lastsMs));
  if (isKill) await process.start();
  else process.resume();
}

async function harmRouterOrFiles(dice: Dice, { routers = [], storage }: ChaosTargets, lastsMs: number): Promise<void> {
  if (dice.below(3) > 1) return harmProcess(dice, dice.oneOf(routers), lastsMs);
  storage?.setOutage(503);
  await pause(dice.below(lastsMs));
  storage?.setOutage(null);
}

async function harmBetween(dice: Dice, { redis, links }: ChaosTargets, lastsMs: number): Promise<void> {
  const which = dice.oneOf(['flush', 'restart', 'cut', 'cut'] as const);
  const [link, isReset, ms] = [dice.oneOf(links), dice.below(2) < 1, dice.below(lastsMs)];
  // On a busy machine it may not answer in time: then it has flushed, or there is one fault less.
  if (which === 'flush') await redis.client.flushall().catch(() => undefined);
  if (which === 'restart') await redis.kill();
  if (which === 'cut') link.cut();
  await pause(ms);
  if (which === 'restart') await redis.start();
  if (which === 'cut') link.restore(isReset);
}
