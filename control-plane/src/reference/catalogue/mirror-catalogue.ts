import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { ReadCatalogue } from './lookup.ts';

/** A copy of the proxy-router's catalogue in memory; the last good copy stays while the router is away. */
export type CatalogueMirror = Loop & { read: ReadCatalogue };

/** Starts to mirror what `fetchCatalogue` answers, every `everyMs`; `refreshed` is told of each good copy. */
export function mirrorCatalogue(
  fetchCatalogue: () => Promise<Catalogue>,
  everyMs: number,
  logger: Logger,
  refreshed: () => void = () => {},
): CatalogueMirror {
  let catalogue: Catalogue | null = null;
  const loop = startLoop(logger, {
    name: 'catalogue mirror',
    everyMs,
    turn: async () => {
      catalogue = await fetchCatalogue();
      refreshed();
    },
  });
  return { read: () => catalogue, stop: loop.stop };
}
