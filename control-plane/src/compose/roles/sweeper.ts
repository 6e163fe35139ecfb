import type { Role } from './role.ts';

/** Removes what has expired, what is older than it is kept, and what nothing refers to. */
export const sweeper: Role = {
  needs: ['store'],
  start: ({ scanning, crawling }) => [...scanning.loops.sweeper(), ...crawling.loops.sweeper()],
};
