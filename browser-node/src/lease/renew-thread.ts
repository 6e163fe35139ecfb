import { parentPort, workerData } from 'node:worker_threads';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import type { Renewed } from '@adsweep/shared/lease/messages.ts';
import { isLost } from '../upload/patiently.ts';
import type { Hold, RenewThreadSettings } from './renewals.ts';

/** Renews leases in a thread of its own, whose timers a busy main thread cannot stall. */
const { nodeApiUrl, everyMs } = workerData as RenewThreadSettings;
const port = parentPort;
if (!port) throw new Error('renew-thread.ts runs as a worker thread');
const client = new LeaseClient(nodeApiUrl, '');
const held = new Map<string, NodeJS.Timeout>();

port.on('message', (message: Hold | { letGo: string }) => {
  if ('letGo' in message) letGo(message.letGo);
  else hold(message);
});

function hold({ lease, untilMs }: Hold): void {
  const renew = async () => {
    // Whoever took the lease is stuck beyond its deadline: let another node have the job.
    if (Date.now() > untilMs) return letGo(lease.lease_id);
    const outcome = await outcomeOf(lease);
    if (outcome === 'renewed' || !held.has(lease.lease_id)) return;
    letGo(lease.lease_id);
    port?.postMessage({ leaseId: lease.lease_id, outcome });
  };
  held.set(
    lease.lease_id,
    setInterval(() => void renew(), everyMs),
  );
}

function letGo(leaseId: string): void {
  clearInterval(held.get(leaseId));
  held.delete(leaseId);
}

/** A control plane that is away or in trouble may adopt the lease again when it is back: only a clear answer ends it. */
async function outcomeOf(lease: Hold['lease']): Promise<Renewed['outcome']> {
  try {
    return (await client.renew(lease)).outcome;
  } catch (error) {
    return isLost(error) ? 'lost' : 'renewed';
  }
}
