import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FleetMessage, FleetPlan, FleetQuestion, FleetTimes } from '../src/fleet-process.ts';

const SCRIPT = join(import.meta.dirname, '../src/fleet-process.ts');

/** Simulated nodes in a separate process. `leased` is called for each leased job. */
export class SimulatedFleet {
  readonly process: ChildProcess;

  constructor(plan: FleetPlan, leased: (jobId: string) => void) {
    this.process = fork(SCRIPT, [JSON.stringify(plan)]);
    this.process.on('message', (message: FleetMessage) => {
      if (message.type === 'leased') leased(message.jobId);
    });
  }

  /** Restarts the measurement. */
  reset(): void {
    this.process.send('reset' satisfies FleetQuestion);
  }

  /** The calls that have ended since `reset`. */
  async read(): Promise<FleetTimes> {
    const answer = new Promise<FleetTimes>((resolve) => {
      const onMessage = (message: FleetMessage) => {
        if (message.type !== 'times') return;
        this.process.off('message', onMessage);
        resolve(message.times);
      };
      this.process.on('message', onMessage);
    });
    this.process.send('read' satisfies FleetQuestion);
    return answer;
  }

  /** Resolves when the nodes have finished what they capture, and their process has ended. */
  async drain(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.send('drain' satisfies FleetQuestion);
    await ended;
  }

  /** SIGKILL: no lease is released. */
  kill(): Promise<void> {
    return killProcess(this.process);
  }
}

/** Ends a process by SIGKILL, unless it has ended. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
