import { existsSync, readFileSync } from 'node:fs';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import type { Provider } from '../providers/provider.ts';
import { buildCatalogue } from './build-catalogue.ts';
import { type ExitsFile, ExitsFileError, type ListedExit, parseExitsFile } from './exits-file.ts';
import { readSnapshot, type Snapshot, writeSnapshot } from './snapshot.ts';

/** Where the exits come from: the file, the copy of it that a start without the file uses, and the providers it may name. */
export type ExitOrigin = { file: string; snapshot: string; providers: Record<string, Provider> };

/** The exits in force. They follow the file while the process runs. */
export class ExitSource {
  readonly #origin: ExitOrigin;
  readonly #logger: Logger;
  #text: string | null = null;
  #current: Snapshot;
  #exits = new Map<string, ListedExit>();
  #timer: NodeJS.Timeout | undefined;

  /** Throws ExitsFileError for a file that cannot be used, and where there is neither a file nor a snapshot of one. */
  constructor(origin: ExitOrigin, logger: Logger) {
    this.#origin = origin;
    this.#logger = logger;
    this.#current = this.#start();
    this.#ask();
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

  /** Looks at the file every `ms` milliseconds. A file that became unusable changes nothing: the last good one stays. */
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
      this.#logger.error({ file: this.#origin.file, cause }, 'the exits file cannot be used, the last good one stays');
    }
  }

  #start(): Snapshot {
    if (existsSync(this.#origin.file)) return this.#parse(readFileSync(this.#origin.file, 'utf8'));
    const snapshot = readSnapshot(this.#origin.snapshot, Object.keys(this.#origin.providers));
    if (snapshot === null) throw new ExitsFileError([`there is neither ${this.#origin.file} nor a snapshot of it`]);
    this.#logger.warn({ file: this.#origin.file, refreshed_at: snapshot.refreshedAt }, 'exits taken from the snapshot');
    return snapshot;
  }

  #read(): boolean {
    const text = readFileSync(this.#origin.file, 'utf8');
    if (text === this.#text) {
      this.#current = { ...this.#current, refreshedAt: new Date() };
      return false;
    }
    this.#current = this.#parse(text);
    this.#ask();
    return true;
  }

  #parse(text: string): Snapshot {
    const snapshot = { refreshedAt: new Date(), file: parseExitsFile(text, Object.keys(this.#origin.providers)) };
    this.#text = text;
    this.#keep(snapshot);
    return snapshot;
  }

  #keep(snapshot: Snapshot): void {
    try {
      writeSnapshot(this.#origin.snapshot, snapshot);
    } catch (cause) {
      this.#logger.error({ path: this.#origin.snapshot, cause }, 'the snapshot of the exits cannot be written');
    }
  }

  /** Asks each provider what can be wished of the exits listed for it. */
  #ask(): void {
    const listed = Object.groupBy(this.file.exits, (exit) => exit.provider);
    const offered = Object.entries(this.#origin.providers).flatMap(([name, one]) => one.catalogue(listed[name] ?? []));
    this.#exits = new Map(offered.map((exit) => [exit.id, exit]));
  }
}
