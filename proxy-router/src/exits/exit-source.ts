import { existsSync, readFileSync } from 'node:fs';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import type { ListedExit } from '../providers/listed-exit.ts';
import type { Provider } from '../providers/provider.ts';
import { buildCatalogue } from './build-catalogue.ts';
import { type ExitsFile, ExitsFileError, parseExitsFile } from './exits-file.ts';
import { readSnapshot, type Snapshot, writeSnapshot } from './snapshot.ts';

/** The exits file, the copy of it for a start without the file, and the providers that it may name. */
export type ExitSourceOptions = { file: string; snapshot: string; providers: Record<string, Provider> };

/** The exits in use. They follow the exits file while the process runs. */
export class ExitSource {
  readonly #options: ExitSourceOptions;
  readonly #logger: Logger;
  #text: string | null = null;
  #current: Snapshot;
  #exits = new Map<string, ListedExit>();
  #timer: NodeJS.Timeout | undefined;

  /** Throws ExitsFileError when the file cannot be used, or when there is neither a file nor a snapshot. */
  constructor(options: ExitSourceOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#current = this.#start();
    this.#collect();
  }

  get file(): ExitsFile {
    return this.#current.file;
  }

  get exits(): ListedExit[] {
    return [...this.#exits.values()];
  }

  exit(id: string): ListedExit | undefined {
    return this.#exits.get(id);
  }

  catalogue(): Catalogue {
    return buildCatalogue(this.exits, this.#current.refreshedAt);
  }

  /** Reads the file again every `ms` milliseconds. A file that has become unusable changes nothing: the last good one stays in use. */
  watch(ms: number): void {
    this.#timer = setInterval(() => this.refresh(), ms);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  refresh(): void {
    try {
      const changed = this.#read();
      if (changed) this.#logger.info({ exits: this.exits.length }, 'the exits changed');
    } catch (cause) {
      this.#logger.error(
        { file: this.#options.file, cause },
        'the exits file cannot be used, the last good one stays in use',
      );
    }
  }

  #start(): Snapshot {
    if (existsSync(this.#options.file)) return this.#parse(readFileSync(this.#options.file, 'utf8'));
    const snapshot = readSnapshot(this.#options.snapshot, Object.keys(this.#options.providers));
    if (snapshot === null) throw new ExitsFileError([`there is neither ${this.#options.file} nor a snapshot of it`]);
    this.#logger.warn(
      { file: this.#options.file, refreshed_at: snapshot.refreshedAt },
      'exits taken from the snapshot',
    );
    return snapshot;
  }

  #read(): boolean {
    const text = readFileSync(this.#options.file, 'utf8');
    if (text === this.#text) {
      this.#current = { ...this.#current, refreshedAt: new Date() };
      return false;
    }
    this.#current = this.#parse(text);
    this.#collect();
    return true;
  }

  #parse(text: string): Snapshot {
    const snapshot = { refreshedAt: new Date(), file: parseExitsFile(text, Object.keys(this.#options.providers)) };
    this.#text = text;
    this.#saveSnapshot(snapshot);
    return snapshot;
  }

  #saveSnapshot(snapshot: Snapshot): void {
    try {
      writeSnapshot(this.#options.snapshot, snapshot);
    } catch (cause) {
      this.#logger.error({ path: this.#options.snapshot, cause }, 'the snapshot of the exits cannot be written');
    }
  }

  /** Asks each provider which of the exits listed for it can be used. */
  #collect(): void {
    const listed = Object.groupBy(this.file.exits, (exit) => exit.provider);
    const offered = Object.entries(this.#options.providers).flatMap(([name, one]) => one.catalogue(listed[name] ?? []));
    this.#exits = new Map(offered.map((exit) => [exit.id, exit]));
  }
}
