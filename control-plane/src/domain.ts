import type { RoleName } from './config.ts';
import type { Caller } from './http/caller.ts';
import type { Route } from './http/route.ts';
import type { OutboxHandlers } from './platform/outbox/outbox-entry.ts';
import type { OutboxSource } from './platform/outbox/outbox-source.ts';
import type { Loop } from './platform/start-loop.ts';

/** A store that the start prepares. `outbox`: its records carry one, which the relay works on. */
export type DomainStore = { createIndexes(): Promise<void>; outbox?: OutboxSource };

/**
 * What a domain hands over when it is created: `xyzDomain(platform, needs, settings)`. Nothing is started yet: `routes`
 * are served and `loops` are started by the processes that have their role. `verbs` are what other domains may call.
 */
export type Domain<NodeCaller = never> = {
  stores: Record<string, DomainStore>;
  routes: { api?: Route<Caller>[]; 'node-api'?: Route<NodeCaller>[] };
  loops: Partial<Record<RoleName, () => Loop[] | Promise<Loop[]>>>;
  outboxHandlers: Partial<OutboxHandlers>;
  verbs: object;
  /** What the steps of its loops need, for tests that run one step at a time. */
  dependencies?: object;
};
