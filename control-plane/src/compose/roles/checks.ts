import type { Role } from './role.ts';

/** Judges captures and brings crawled scans to their end. */
export const checks: Role = { needs: ['store'], start: ({ analysis }) => analysis.loops.checks() };
