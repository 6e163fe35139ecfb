import type { Loop } from '../../platform/start-loop.ts';
import type { Domains } from '../domains.ts';
import type { Need } from '../readiness.ts';

/** A part of the control plane's work that a process may do or leave to others: what it cannot work without, and the loops it runs. */
export type Role = { needs: readonly Need[]; start(domains: Domains): Loop[] };
