import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Place } from '../providers/exit.ts';
import type { ProviderConfig } from '../providers/provider-config.ts';
import { CatalogueError, readCatalogue } from '../providers/read-catalogue.ts';
import type { PlaceSource } from './build-catalogue.ts';
import { catalogueKey, type FetchedPlaces, readCatalogues, writeCatalogues } from './snapshots.ts';
import { omitsCountry, requireCountry } from './vendor-exit.ts';

/** Longest delay before a failed fetch is retried. */
const RETRY_MS = 60_000;

export type VendorCataloguesOptions = {
  snapshot: string;
  refreshMs: number;
  fetchCatalogue: (url: string) => Promise<Place[]>;
  /** Called when the places of a vendor have changed. */
  changed: () => void;
};

/** A followed vendor, as it is configured now, and the timer of its next fetch. */
type Followed = { config: ProviderConfig; timer?: NodeJS.Timeout };

/**
 * The catalogues that vendors serve at a URL. They are fetched on a schedule; the last good one of each stays in use.
 */
export class VendorCatalogues {
  readonly #options: VendorCataloguesOptions;
  readonly #logger: Logger;
  readonly #fetched: Map<string, FetchedPlaces>;
  readonly #followed = new Map<string, Followed>();
  /** The vendors of the start whose first catalogue is being fetched. */
  readonly #beginning = new Set<string>();
  #hasBegun = false;

  /** Starts from the snapshot. Throws the system's errors. */
  constructor(options: VendorCataloguesOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#fetched = readCatalogues(options.snapshot);
  }

  /**
   * A vendor's places; before the first fetch from its URL those from an earlier one, which may have had another
   * credential.
   */
  sourceOf(config: ProviderConfig): PlaceSource {
    const fetched = this.#fetched.get(catalogueKey(config)) ?? this.#fetched.get(this.#keysOf(config)[0] ?? '');
    return fetched && !omitsCountry(config, fetched.places) ? fetched : { places: [], refreshedAt: null };
  }

  /** The keys of all that was fetched for the vendor. */
  #keysOf({ id }: ProviderConfig): string[] {
    return [...this.#fetched.keys()].filter((key) => key.startsWith(`${id} `));
  }

  /**
   * Whether the first catalogue of a vendor is being fetched since the start: what it has is not known, and will be
   * soon.
   */
  get isBeginning(): boolean {
    return this.#beginning.size > 0;
  }

  /** Fetches the catalogues of these vendors, and of no others, from now on. */
  follow(configs: ProviderConfig[]): void {
    const wanted = new Map(configs.map((config) => [catalogueKey(config), config]));
    for (const key of [...this.#followed.keys()]) if (!wanted.has(key)) this.#forget(key);
    for (const [key, config] of wanted) {
      if (!this.#hasBegun && this.sourceOf(config).refreshedAt === null) this.#beginning.add(key);
      const known = this.#followed.get(key);
      if (known) known.config = config;
      else void this.#refresh(key, { config });
    }
    this.#hasBegun = true;
  }

  stop(): void {
    for (const key of [...this.#followed.keys()]) this.#forget(key);
  }

  #forget(key: string): void {
    clearTimeout(this.#followed.get(key)?.timer);
    this.#followed.delete(key);
  }

  async #refresh(key: string, followed: Followed): Promise<void> {
    this.#followed.set(key, followed);
    const isGood = await this.#fetch(key, followed);
    this.#beginning.delete(key);
    if (this.#followed.get(key) !== followed) return;
    const { refreshMs } = this.#options;
    const next = () => void this.#refresh(key, followed);
    followed.timer = setTimeout(next, isGood ? refreshMs : Math.min(refreshMs, RETRY_MS));
  }

  async #fetch(key: string, followed: Followed): Promise<boolean> {
    const { fetchCatalogue, snapshot, changed } = this.#options;
    try {
      const places = await fetchCatalogue(followed.config.catalogue);
      if (this.#followed.get(key) !== followed) return false;
      // Its user name may have changed meanwhile.
      const { config } = followed;
      requireCountry(config, places);
      if (places.length === 0) throw new CatalogueError(['has no places']);
      this.#replace(key, config, { places, refreshedAt: new Date() });
      changed();
      writeCatalogues(snapshot, this.#fetched);
      return true;
    } catch (cause) {
      this.#logger.error({ provider: followed.config.id, cause }, 'the catalogue of a provider cannot be refreshed');
      return false;
    }
  }

  /** Drops what was fetched from earlier URLs. */
  #replace(key: string, config: ProviderConfig, fetched: FetchedPlaces): void {
    for (const earlier of this.#keysOf(config)) this.#fetched.delete(earlier);
    this.#fetched.set(key, fetched);
  }
}

const DEADLINE_MS = 60_000;
const BYTES_MAX = 100_000_000;

/**
 * Fetches a vendor's catalogue; credentials in the URL are sent as Basic credentials. Rejects on a timeout, an error
 * status, a body that is too large or not a catalogue. No message has the URL in it, which may be a secret.
 */
export async function fetchCatalogue(url: string): Promise<Place[]> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('the catalogue was not answered in time')), DEADLINE_MS);
  try {
    const { address, headers } = splitCredentials(url);
    const answer = await fetch(address, { headers, signal: late.signal });
    if (!answer.ok) throw new Error(`the catalogue was answered ${answer.status}`);
    return readCatalogue(await readText(answer));
  } finally {
    clearTimeout(timer);
  }
}

/** fetch rejects a URL with credentials. */
function splitCredentials(text: string): { address: URL; headers: Record<string, string> } {
  const address = new URL(text);
  const { username, password } = address;
  address.username = '';
  address.password = '';
  if (!username && !password) return { address, headers: {} };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { address, headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } };
}

async function readText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw new Error(`the catalogue has more than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
