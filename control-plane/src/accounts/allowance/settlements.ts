import type { AllowanceStore, Settled } from './allowance-store.ts';

/** Settled reservations are written with the next request of the organization, or after this time. */
const WRITE_WITHIN_MS = 500;

/** Reservations whose scans were made, until that is written. What is lost here is released later, when its scans have been counted. */
export function settlements(allowances: Pick<AllowanceStore, 'settle'>) {
  const unwritten = new Map<string, Settled[]>();
  let writing: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;

  const take = (organizationId: string): Settled[] => {
    const taken = unwritten.get(organizationId) ?? [];
    unwritten.delete(organizationId);
    return taken;
  };

  const write = async (): Promise<void> => {
    if (timer) clearTimeout(timer);
    timer = null;
    writing = Promise.allSettled([...unwritten.keys()].map((id) => allowances.settle(id, take(id))));
    await writing;
  };

  return {
    /** Those of an organization, for whoever writes them with what it writes. */
    take,

    add(organizationId: string, one: Settled): void {
      unwritten.set(organizationId, [...(unwritten.get(organizationId) ?? []), one]);
      timer ??= setTimeout(() => void write(), WRITE_WITHIN_MS).unref();
    },

    /** Resolves when all of them are written, or cannot be. */
    async flush(): Promise<void> {
      await writing;
      await write();
    },
  };
}
