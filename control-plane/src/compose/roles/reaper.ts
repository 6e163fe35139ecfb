import type { Role } from './role.ts';

/** Ends the attempts of nodes that are gone. */
export const reaper: Role = { needs: ['store', 'redis'], start: ({ crawling }) => crawling.loops.reaper() };
