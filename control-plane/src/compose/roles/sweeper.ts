import type { Role } from './role.ts';

/** Removes what has expired and what nothing refers to. */
export const sweeper: Role = { needs: ['store'], start: ({ scanning }) => scanning.loops.sweeper() };
