import { pause } from '@adsweep/shared/service/time-slice.ts';

/** Texts are encoded when so many characters have been collected. */
const CHARACTERS_AT_ONCE = 64 * 1024;

/**
 * Serializes a response as `JSON.stringify` does, with pauses between the items of its lists, so that a large one does
 * not block others.
 */
export async function jsonBytes(value: unknown): Promise<Buffer> {
  const writer = new JsonWriter();
  await writer.write(value, 0);
  return writer.bytes();
}

class JsonWriter {
  readonly #encoded: Buffer[] = [];
  #pieces: string[] = [];
  #length = 0;

  bytes(): Buffer {
    this.#encode();
    return Buffer.concat(this.#encoded);
  }

  /** Writes a value: a response, `depth` 0, member by member, its lists item by item, and all else in one piece. */
  async write(value: unknown, depth: 0 | 1): Promise<void> {
    if (Array.isArray(value)) return this.#writeList(value);
    if (depth === 0 && isPlainObject(value)) return this.#writeObject(value);
    this.#add(JSON.stringify(value) ?? 'null');
    if (this.#length === 0) await pause();
  }

  async #writeList(items: unknown[]): Promise<void> {
    this.#add('[');
    for (const [at, item] of items.entries()) {
      if (at > 0) this.#add(',');
      this.#add(JSON.stringify(item) ?? 'null');
      if (this.#length === 0) await pause();
    }
    this.#add(']');
  }

  async #writeObject(fields: Record<string, unknown>): Promise<void> {
    this.#add('{');
    const members = Object.entries(fields).filter(([, value]) => value !== undefined);
    for (const [at, [name, value]] of members.entries()) {
      this.#add(`${at > 0 ? ',' : ''}${JSON.stringify(name)}:`);
      await this.write(value, 1);
    }
    this.#add('}');
  }

  #add(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length >= CHARACTERS_AT_ONCE) this.#encode();
  }

  #encode(): void {
    this.#encoded.push(Buffer.from(this.#pieces.join('')));
    [this.#pieces, this.#length] = [[], 0];
  }
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  Object.getPrototypeOf(value) === Object.prototype &&
  !('toJSON' in value);
