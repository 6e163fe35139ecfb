import { appendFileSync, closeSync, fdatasync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { readIfPresent } from '@adsweep/shared/service/read-if-present.ts';
import { setNewest } from '@adsweep/shared/service/set-newest.ts';
import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { TICKET_ID_LENGTH_MAX } from './ticket.ts';

const TicketRecordSchema = Type.Object({
  id: Type.String({ maxLength: TICKET_ID_LENGTH_MAX }),
  /** Unix time in milliseconds after which the record is not needed. */
  expires: Type.Integer(),
  deleted: Type.Boolean(),
  bytes_sent: Type.Integer({ minimum: 0 }),
  bytes_received: Type.Integer({ minimum: 0 }),
});

/** What a restarted router must know about a ticket. */
export type TicketRecord = Static<typeof TicketRecordSchema>;

/** About 100 bytes each. A farm of 10,000 scans an hour has fewer unexpired tickets than this. */
const RECORDS_MAX = 50_000;
/** Outdated lines that the file may have before it is rewritten. */
const STALE_LINES_MAX = 10_000;

const syncFile = promisify(fdatasync);

/**
 * The tickets that were deleted or have used much of their byte limit: one JSON record per line; the last record of a
 * ticket is the valid one. An appended record survives the end of the process, a synced one also a power cut. Beyond
 * {@link RECORDS_MAX} the oldest are dropped.
 */
export class TicketJournal {
  readonly #path: string;
  readonly #records = new Map<string, TicketRecord>();
  #lines = 0;
  #file: number;

  /** Opens the journal at `path`, in a folder that exists; `now` in Unix milliseconds. Throws the system's errors. */
  constructor(path: string, now: number) {
    this.#path = path;
    for (const record of readRecords(path)) this.#keep(record);
    this.#file = this.#rewrite(now);
  }

  find(ticketId: string): TicketRecord | undefined {
    return this.#records.get(ticketId);
  }

  append(record: TicketRecord): void {
    this.#keep(record);
    // A full disk may have taken only a part of the line before.
    appendFileSync(this.#file, `\n${line(record)}`);
    this.#lines += 1;
  }

  /** Resolves when all appended records are on the disk. */
  async sync(): Promise<void> {
    const file = this.#file;
    try {
      await syncFile(file);
    } catch (error) {
      // The file was rewritten meanwhile, and synced then.
      if (file === this.#file) throw error;
    }
  }

  /** Drops the records of expired tickets, and rewrites the file when it has too many outdated lines. */
  sweep(now: number): void {
    for (const { id, expires } of this.#records.values()) if (now >= expires) this.#records.delete(id);
    if (this.#lines < this.#records.size + STALE_LINES_MAX) return;
    const outdated = this.#file;
    this.#file = this.#rewrite(now);
    closeSync(outdated);
  }

  close(): void {
    closeSync(this.#file);
  }

  #keep(record: TicketRecord): void {
    setNewest(this.#records, record.id, record, RECORDS_MAX);
  }

  /**
   * Replaces the file; a crash leaves the old file or the new one, never a part. Returns the new file, open for
   * appending.
   */
  #rewrite(now: number): number {
    const current = [...this.#records.values()].filter(({ expires }) => now < expires);
    const draft = `${this.#path}.${process.pid}.new`;
    try {
      writeFileSync(draft, current.map(line).join(''), { mode: 0o600, flush: true });
      renameSync(draft, this.#path);
      syncFolder(dirname(this.#path));
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    this.#lines = current.length;
    return openSync(this.#path, 'a');
  }
}

/** Without it, a power cut could bring the old file of that name back. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}

const line = (record: TicketRecord): string => `${JSON.stringify(record)}\n`;

/** The records of a journal; a line that a crash or a full disk truncated is skipped. */
function readRecords(path: string): TicketRecord[] {
  const lines = (readIfPresent(path) ?? '').split('\n');
  return lines.map(jsonOrNull).filter((record) => Value.Check(TicketRecordSchema, record));
}
