import { join } from 'node:path';
import { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { type GuardedPost, guardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { eventStore } from '../../control-plane/src/delivery/events/event-store.ts';
import { deliveryStore } from '../../control-plane/src/delivery/webhooks/delivery-store.ts';
import type { DispatchParts } from '../../control-plane/src/delivery/webhooks/dispatch-events.ts';
import { endpointStore } from '../../control-plane/src/delivery/webhooks/endpoint-store.ts';
import { workMetrics } from '../../control-plane/src/metrics.ts';
import { secretsUnder } from '../../control-plane/src/platform/secrets.ts';
import { type Document, openStore, type Store } from '../../control-plane/src/platform/store.ts';
import { tagDefinitionStore } from '../../control-plane/src/reference/tags/tag-definition-store.ts';

/** Calls of a store by method, since it was opened or `clear` was called. */
export type StoreCalls = Map<string, number>;

/** A store whose calls are counted. */
function counted(store: Store): { store: Store; calls: StoreCalls } {
  const calls: StoreCalls = new Map();
  const collection = (name: string) =>
    new Proxy(store.collection<Document>(name), {
      get: (target, method: string) => {
        const own = target[method as 'findOne'] as unknown;
        if (typeof own !== 'function') return own;
        return (...of: unknown[]) => {
          calls.set(`${name}.${method}`, (calls.get(`${name}.${method}`) ?? 0) + 1);
          return own.apply(target, of) as unknown;
        };
      },
    });
  return { store: { ...store, collection: collection as unknown as Store['collection'] }, calls };
}

/** What a dispatcher needs, over an embedded store on a file in `folder`, with the calls of the store. */
export async function openDispatcher(folder: string, changePost: (post: GuardedPost['post']) => GuardedPost['post']) {
  const opened = await openStore({ path: join(folder, 'store.db') });
  const { store, calls } = counted(opened);
  const secrets = secretsUnder(['key-for-secrets-of-this-bench']);
  const guarded = guardedPost(new EgressPolicy(['127.0.0.0/8'], []));
  const [endpoints, deliveries, events] = [endpointStore(store), deliveryStore(store), eventStore(store)];
  const tags = tagDefinitionStore(store);
  await tags.createIndexes();
  const parts = {
    ...{ endpoints, deliveries, events, secrets, readTags: tags.visibleTo, post: changePost(guarded.post) },
    ...{ metrics: workMetrics(new Registry()), logger: createLogger('bench', 'error') },
  } satisfies DispatchParts;
  const close = async () => {
    guarded.close();
    await opened.close();
  };
  return { store, calls, parts, close };
}
