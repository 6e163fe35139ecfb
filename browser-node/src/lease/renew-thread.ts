import { parentPort, workerData } from 'node:worker_threads';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import type { Renewed } from '@adsweep/shared/lease/messages.ts';
import { isLost } from '../upload/retry-call.ts';
import type { Extension, Hold, RenewThreadSettings } from './renewals.ts';

/** Renews leases in a thread of its own, whose timers a busy main thread cannot stall. */
const { nodeApiUrl, everyMs } = workerData as RenewThreadSettings;
const port = parentPort;
if (!port) throw new Error('renew-thread.ts runs as a worker thread');
const client = new LeaseClient(nodeApiUrl, '');
/** `untilMs`: by a clock that is never set, as the time of day may be corrected by minutes meanwhile. */
const held = new Map<string, { timer: NodeJS.Timeout; untilMs: number }>();
const endOf = (forMs: number): number => performance.now() + forMs;

port.on('message', (message: Hold | Extension | { release: string }) => {
  if ('release' in message) release(message.release);
  else if ('extend' in message) extend(message);
  else hold(message);
});

function hold({ lease, forMs }: Hold): void {
  const renew = async () => {
    // The main thread is blocked beyond the lease's deadline: leave the job to another node.
    if (performance.now() > (held.get(lease.lease_id)?.untilMs ?? 0)) return release(lease.lease_id);
    const outcome = await outcomeOf(lease);
    if (outcome === 'renewed' || !held.has(lease.lease_id)) return;
    release(lease.lease_id);
    port?.postMessage({ leaseId: lease.lease_id, outcome });
  };
  held.set(lease.lease_id, { timer: setInterval(() => void renew(), everyMs), untilMs: endOf(forMs) });
}

function extend({ extend: leaseId, forMs }: Extension): void {
  const one = held.get(leaseId);
  if (one) one.untilMs = endOf(forMs);
}

function release(leaseId: string): void {
  clearInterval(held.get(leaseId)?.timer);
  held.delete(leaseId);
}

/** A control plane that is unavailable may adopt the lease again later, so only a definite response ends the lease. */
async function outcomeOf(lease: Hold['lease']): Promise<Renewed['outcome']> {
  try {
    return (await client.renew(lease)).outcome;
  } catch (error) {
    return isLost(error) ? 'lost' : 'renewed';
  }
}
