import { existsSync } from 'node:fs';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { CatalogueTimes } from '@adsweep/shared/targeting/catalogue.ts';
import type { Exit, Place } from '../providers/exit.ts';
import type { Provider } from '../providers/provider.ts';
import type { UserNameField } from '../providers/user-name.ts';
import { buildPools, catalogueJson, catalogueTimes, type PlaceSource, type TargetingPools } from './build-catalogue.ts';
import { ExitIndex } from './exit-index.ts';
import { type ExitsBase, ExitsFileError } from './exits-file.ts';
import type { HostMapping } from './host-mapping.ts';
import {
  completeExits,
  connectionsOf,
  type LoadedExits,
  type LoadedVendor,
  loadExits,
  versionsOf,
} from './load-exits.ts';
import { readSnapshot, writeSnapshot } from './snapshots.ts';
import { VendorCatalogues } from './vendor-catalogues.ts';
import { omittedFields, readVendorExitId, vendorExit } from './vendor-exit.ts';

/** The exits file and the snapshots for a start without it; `providers` by the names that exits use. */
export type ExitSourceOptions = {
  file: string;
  base: ExitsBase | null;
  snapshot: string;
  catalogueSnapshot: string;
  catalogueRefreshMs: number;
  fetchCatalogue: (url: string) => Promise<Place[]>;
  providers: Record<string, Provider>;
  /**
   * Called with the id of each exit or account that from now on connects in another way, such as with another password,
   * or not any more.
   */
  reconnected: (id: string) => void;
};

/**
 * Data derived from the exits file and the catalogues, rebuilt when one of them changes. `omittedFields` by account.
 */
type Derived = {
  exits: Map<string, Exit>;
  index: ExitIndex;
  pools: TargetingPools;
  omittedFields: Map<string, UserNameField[]>;
};

/**
 * A provider in use: the ids of its exits or of its account, and the state of its places. See {@link omittedFields}.
 */
export type OfferedProvider = {
  provider: string;
  exitIds: string[];
  places: number;
  refreshedAt: Date | null;
  omittedFields: UserNameField[];
};

/** The exits in use. They follow the exits file and the catalogues of vendors while the process runs. */
export class ExitSource {
  readonly #options: ExitSourceOptions;
  readonly #logger: Logger;
  readonly #catalogues: VendorCatalogues;
  #loaded!: LoadedExits;
  /** When the exits file was last found valid. */
  #checkedAt = new Date();
  #derived!: Derived;
  /** The last logged problem of the exits file; '' while it is valid. */
  #problem = '';
  #catalogueJson: { of: string; pools: TargetingPools; json: Buffer } | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** Throws ExitsFileError when the file cannot be used, or when there is neither a file nor a snapshot. */
  constructor(options: ExitSourceOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#catalogues = new VendorCatalogues(
      {
        snapshot: options.catalogueSnapshot,
        refreshMs: options.catalogueRefreshMs,
        fetchCatalogue: options.fetchCatalogue,
        changed: () => this.#derive(),
      },
      logger,
    );
    if (existsSync(options.file)) this.#use(loadExits(options.file, this.#builtIn, options.base));
    else this.#useSnapshot();
  }

  get hosts(): HostMapping {
    return this.#loaded.file.hosts;
  }

  /** The exits by targeting. */
  get index(): ExitIndex {
    return this.#derived.index;
  }

  /** The exit with an id, undefined if it is no longer listed. */
  exit(id: string): Exit | undefined {
    const listed = this.#derived.exits.get(id);
    const named = listed ? null : readVendorExitId(id);
    const vendor = named && this.#vendor(named.provider);
    return listed ?? (vendor ? vendorExit(vendor.config, named.place) : undefined);
  }

  provider(name: string): Provider | undefined {
    return this.#options.providers[name] ?? this.#vendor(name)?.provider;
  }

  /** The providers in use. */
  providers(): OfferedProvider[] {
    const { file, vendors } = this.#loaded;
    const listed = [...Map.groupBy(file.exits, ({ provider }) => provider)].map(([provider, exits]) => {
      const exitIds = exits.map(({ id }) => id);
      return { provider, exitIds, places: exits.length, refreshedAt: this.#checkedAt, omittedFields: [] };
    });
    const accounts = vendors.map((vendor) => {
      const { id } = vendor.config;
      const { places, refreshedAt } = this.#sourceOf(vendor);
      const omitted = this.#derived.omittedFields.get(id) ?? [];
      return { provider: id, exitIds: [id], places: places.length, refreshedAt, omittedFields: omitted };
    });
    return [...listed, ...accounts];
  }

  /** The catalogue as JSON, made once for each state of it: with the places of a vendor it has megabytes. */
  catalogueJson(): Buffer {
    const { pools } = this.#derived;
    const of = this.#sources()
      .map(({ refreshedAt }) => refreshedAt?.toISOString())
      .join();
    const last = this.#catalogueJson;
    if (last?.of === of && last.pools === pools) return last.json;
    const json = catalogueJson(pools, this.#sources());
    this.#catalogueJson = { of, pools, json };
    return json;
  }

  /** When the catalogue's lists were last verified, and their version. */
  catalogueTimes(): CatalogueTimes {
    return catalogueTimes(this.#derived.pools, this.#sources());
  }

  /**
   * Whether the catalogue of every provider was read: before that, a place that none has may be one of those that are
   * missing.
   */
  get isComplete(): boolean {
    return this.#sources().every(({ refreshedAt }) => refreshedAt !== null);
  }

  /** Whether the first catalogue of a provider is being fetched since the start. */
  get isBeginning(): boolean {
    return this.#catalogues.isBeginning;
  }

  /** Whether anything can be targeted. */
  get isEmpty(): boolean {
    return this.#derived.pools.length === 0;
  }

  /** Starts to fetch the catalogues of vendors, and to read the file again every `ms` milliseconds. */
  watch(ms: number): void {
    this.#timer = setInterval(() => this.refresh(), ms);
    this.#followVendors();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#catalogues.stop();
  }

  /** Reads the file again if it has changed. If it has become invalid, the last good one stays in use. */
  refresh(): void {
    const { file, base } = this.#options;
    const versions = versionsOf(file, this.#loaded.file);
    if (versions !== '' && versions === this.#loaded.versions) {
      this.#problem = '';
      this.#checkedAt = new Date();
      return;
    }
    try {
      this.#use(loadExits(file, this.#builtIn, base));
      this.#followVendors();
      this.#problem = '';
      this.#logger.info(
        { exits: this.#derived.exits.size, providers: this.#loaded.vendors.length },
        'the exits changed',
      );
    } catch (cause) {
      const problem = String(cause);
      if (problem !== this.#problem)
        this.#logger.error({ file, cause }, 'the exits file cannot be used, the last good one stays in use');
      this.#problem = problem;
    }
  }

  get #builtIn(): string[] {
    return Object.keys(this.#options.providers);
  }

  #vendor(id: string): LoadedVendor | undefined {
    return this.#loaded.vendors.find(({ config }) => config.id === id);
  }

  #use(loaded: LoadedExits): void {
    const [before, now] = [this.#loaded ? connectionsOf(this.#loaded) : [], connectionsOf(loaded)];
    this.#loaded = loaded;
    for (const [id, connection] of before) if (now.get(id) !== connection) this.#options.reconnected(id);
    this.#checkedAt = new Date();
    this.#derive();
    try {
      writeSnapshot(this.#options.snapshot, { refreshedAt: this.#checkedAt, file: loaded.file });
    } catch (cause) {
      this.#logger.error({ path: this.#options.snapshot, cause }, 'the snapshot of the exits cannot be written');
    }
  }

  #useSnapshot(): void {
    const { file, snapshot } = this.#options;
    const saved = readSnapshot(snapshot, this.#builtIn);
    if (saved === null) throw new ExitsFileError([`there is neither ${file} nor a snapshot of it`]);
    this.#logger.warn({ file, refreshed_at: saved.refreshedAt }, 'exits taken from the snapshot');
    this.#loaded = completeExits(saved.file, file);
    this.#checkedAt = saved.refreshedAt;
    this.#derive();
  }

  #followVendors(): void {
    if (this.#timer === undefined) return;
    this.#catalogues.follow(this.#loaded.vendors.filter(({ places }) => places === null).map(({ config }) => config));
  }

  #sourceOf({ config, places }: LoadedVendor): PlaceSource {
    return places ? { places, refreshedAt: this.#checkedAt } : this.#catalogues.sourceOf(config);
  }

  #sources(): PlaceSource[] {
    const { file, vendors } = this.#loaded;
    return [{ places: file.exits, refreshedAt: this.#checkedAt }, ...vendors.map((vendor) => this.#sourceOf(vendor))];
  }

  #derive(): void {
    const { file, vendors } = this.#loaded;
    const places = vendors.map((vendor) => ({
      places: this.#sourceOf(vendor).places,
      exitFor: (place: Place) => vendorExit(vendor.config, place),
    }));
    this.#derived = {
      exits: new Map(file.exits.map((exit) => [exit.id, exit])),
      index: new ExitIndex(file.exits, places),
      pools: buildPools(this.#sources()),
      omittedFields: new Map(vendors.map((vendor) => [vendor.config.id, this.#omittedFields(vendor)])),
    };
  }

  /** The omitted fields; new ones are logged, because scans that ask for such a value get any exit of the account. */
  #omittedFields(vendor: LoadedVendor): UserNameField[] {
    const { id } = vendor.config;
    const fields = omittedFields(vendor.config, this.#sourceOf(vendor).places);
    if (fields.length > 0 && fields.join() !== this.#derived?.omittedFields.get(id)?.join())
      this.#logger.warn({ provider: id, fields }, 'the catalogue has values that the user name omits');
    return fields;
  }
}
