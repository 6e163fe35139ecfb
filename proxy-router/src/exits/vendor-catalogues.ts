import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Place } from '../providers/place.ts';
import type { ProviderConfig } from '../providers/provider-config.ts';
import type { PlaceSource } from './build-catalogue.ts';
import { catalogueKey, type FetchedPlaces, readCatalogues, writeCatalogues } from './catalogue-snapshot.ts';
import { requireCountry } from './unsent-fields.ts';

/** How soon a catalogue that could not be fetched is asked for again, at the latest. */
const RETRY_MS = 60_000;

export type VendorCataloguesOptions = {
  snapshot: string;
  refreshMs: number;
  fetchCatalogue: (url: string) => Promise<Place[]>;
  /** The places of some vendor are others than before. */
  changed: () => void;
};

/** The catalogues that vendors serve at a URL. They are fetched on a schedule, and the last good ones stay in use meanwhile. */
export class VendorCatalogues {
  readonly #options: VendorCataloguesOptions;
  readonly #logger: Logger;
  readonly #fetched: Map<string, FetchedPlaces>;
  /** The vendors that are followed, each with its next fetch. */
  readonly #timers = new Map<string, NodeJS.Timeout | undefined>();

  /** Begins with what the snapshot has. Throws the system's errors. */
  constructor(options: VendorCataloguesOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#fetched = readCatalogues(options.snapshot);
  }

  /** What is known of a vendor's places; none before the first time. */
  sourceOf(config: ProviderConfig): PlaceSource {
    return this.#fetched.get(catalogueKey(config)) ?? { places: [], refreshedAt: null };
  }

  /** From now on follows these vendors and no others. */
  follow(configs: ProviderConfig[]): void {
    const wanted = new Map(configs.map((config) => [catalogueKey(config), config]));
    for (const key of [...this.#timers.keys()]) if (!wanted.has(key)) this.#forget(key);
    for (const [key, config] of wanted) if (!this.#timers.has(key)) void this.#refresh(key, config);
  }

  stop(): void {
    for (const key of [...this.#timers.keys()]) this.#forget(key);
  }

  #forget(key: string): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }

  async #refresh(key: string, config: ProviderConfig): Promise<void> {
    this.#timers.set(key, undefined);
    const isGood = await this.#fetch(key, config);
    if (!this.#timers.has(key)) return;
    const { refreshMs } = this.#options;
    const next = () => void this.#refresh(key, config);
    this.#timers.set(key, setTimeout(next, isGood ? refreshMs : Math.min(refreshMs, RETRY_MS)));
  }

  async #fetch(key: string, config: ProviderConfig): Promise<boolean> {
    const { fetchCatalogue, snapshot, changed } = this.#options;
    try {
      const places = await fetchCatalogue(config.catalogue);
      requireCountry(config, places);
      if (!this.#timers.has(key)) return false;
      this.#fetched.set(key, { places, refreshedAt: new Date() });
      changed();
      writeCatalogues(snapshot, this.#fetched);
      return true;
    } catch (cause) {
      this.#logger.error({ provider: config.id, cause }, 'the catalogue of a provider cannot be refreshed');
      return false;
    }
  }
}
