import type { Role } from './role.ts';

/** Carries out what follows changes of records: charges, refunds, events. */
export const relay: Role = { needs: ['store'], start: ({ delivery }) => delivery.loops.relay() };
