import { ConnectionFailure } from './connection-failure.ts';
import { dialUpstream } from './dial-upstream.ts';
import type { Provider } from './provider.ts';
import { parseUpstream } from './upstream.ts';

/** Exits that each have an upstream proxy of their own. */
export const listProvider: Provider = {
  resolvesNames: false,
  async dial({ exit }, destination, signal) {
    const upstream = parseUpstream(exit.upstream ?? '');
    if (!upstream) throw new ConnectionFailure('upstream_failed', 'the exit has no upstream');
    return dialUpstream(upstream, destination, signal);
  },
};
