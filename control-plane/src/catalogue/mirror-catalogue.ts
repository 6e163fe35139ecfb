import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';

/** How soon to ask again while there is no catalogue yet. */
const FIRST_RETRY_MS = 500;

/** A copy of the proxy-router's catalogue in memory, read again and again; the last good copy stays while the router is away. */
export type CatalogueMirror = { read: () => Catalogue | null; stop: () => Promise<void> };

/** Starts to mirror what `fetchCatalogue` answers, every `everyMs`. */
export function mirrorCatalogue(
  fetchCatalogue: () => Promise<Catalogue>,
  everyMs: number,
  logger: Logger,
): CatalogueMirror {
  let catalogue: Catalogue | null = null;
  let away = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const turn = async (): Promise<void> => {
    try {
      catalogue = await fetchCatalogue();
      if (away) logger.info('the catalogue can be read again');
      away = false;
    } catch (cause) {
      if (!away) logger.warn({ cause }, 'the catalogue cannot be read');
      away = true;
    }
    if (!stopped) timer = setTimeout(start, catalogue ? everyMs : Math.min(everyMs, FIRST_RETRY_MS));
  };
  const start = () => {
    running = turn();
  };
  let running = turn();

  return {
    read: () => catalogue,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
