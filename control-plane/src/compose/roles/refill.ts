import type { Role } from './role.ts';

/** Makes the index of work in Redis what the store says, and counts it. */
export const refill: Role = { needs: ['store', 'redis'], start: ({ crawling }) => crawling.loops.refill() };
