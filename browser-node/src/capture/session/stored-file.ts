import { createHash } from 'node:crypto';
import { openAsBlob, rmSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Removes the files of captures that were discarded before anything else could. */
const unused = new FinalizationRegistry<string>((folder) => rmSync(folder, { recursive: true, force: true }));

/**
 * A large file of a capture on the disk, written as it arrives, in a folder of its own that only this user can read.
 */
export class StoredFile {
  length = 0;
  readonly #folder: string;
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  #sha256 = '';
  #written: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, path: string, handle: FileHandle) {
    this.#folder = folder;
    this.#path = path;
    this.#handle = handle;
    unused.register(this, folder);
  }

  /** Rejects with the system's errors. */
  static async create(): Promise<StoredFile> {
    const folder = await mkdtemp(join(tmpdir(), `adsweep-media-${process.pid}-`));
    const path = join(folder, 'file');
    return new StoredFile(folder, path, await open(path, 'wx', 0o600));
  }

  append(bytes: Uint8Array): void {
    this.length += bytes.length;
    this.#hash.update(bytes);
    const written = this.#written.then(() => this.#handle.appendFile(bytes));
    // finish() reports the error.
    written.catch(() => undefined);
    this.#written = written;
  }

  /** Ends the file; afterwards it can be read. Rejects where it could not be written. */
  async finish(): Promise<this> {
    await this.#written;
    await this.#handle.close();
    this.#sha256 = this.#hash.digest('hex');
    return this;
  }

  /** In hexadecimal digits. */
  get sha256(): string {
    return this.#sha256;
  }

  /** The content, which is read from the disk only as it is used. */
  content(): Promise<Blob> {
    return openAsBlob(this.#path);
  }

  /** Never throws. */
  async remove(): Promise<void> {
    await this.#written.catch(() => undefined);
    await this.#handle.close().catch(() => undefined);
    await rm(this.#folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
