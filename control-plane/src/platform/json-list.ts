/** Why bytes are not the list that a {@link JsonListReader} reads. */
export class NotAJsonList extends Error {}

/**
 * `accepts`: whether an item has the right shape; `itemsMax`: items of a list; `itemBytesMax` and `fieldsMax`: size of
 * one item.
 */
export type JsonListBounds<T> = {
  accepts: (item: unknown) => item is T;
  itemsMax: number;
  itemBytesMax: number;
  fieldsMax: number;
};

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const WHITESPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** What may come next: `[`; an item or `]`; more of an item; `,` or `]`; an item; nothing. */
type Expected = 'list' | 'first' | 'rest' | 'separator' | 'item' | 'nothing';

/**
 * Reads a JSON array of flat objects (RFC 8259, UTF-8) piece by piece. Items are parsed one at a time, and only once
 * their number, size and nesting are known to be within bounds: a short text of nested lists takes more than twenty
 * times its size in memory when it is parsed. Throws {@link NotAJsonList} at the first byte that breaks a bound.
 */
export class JsonListReader<T> {
  readonly #bounds: JsonListBounds<T>;
  readonly #onItem: (item: T) => void;
  #expected: Expected = 'list';
  #items = 0;
  /** The item that is being read: its earlier pieces, their bytes, and the commas between its fields. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #commas = 0;
  #inString = false;
  #escaped = false;

  constructor(bounds: JsonListBounds<T>, onItem: (item: T) => void = () => undefined) {
    this.#bounds = bounds;
    this.#onItem = onItem;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.#expected !== 'rest') {
        if (this.#readOutside(byte)) start = at;
      } else if (this.#endsItem(byte)) {
        this.#keep(chunk.subarray(start, at + 1));
        this.#finishItem();
      }
    }
    if (this.#expected === 'rest') this.#keep(chunk.subarray(start));
  }

  /** The input has ended. */
  end(): void {
    if (this.#expected !== 'nothing') throw new NotAJsonList('the list is not complete');
  }

  /** Reads a byte between items; true: an item begins with it. */
  #readOutside(byte: number): boolean {
    if (WHITESPACE.has(byte)) return false;
    const expected = this.#expected;
    if (byte === OPEN_OBJECT && (expected === 'first' || expected === 'item')) {
      this.#expected = 'rest';
      return true;
    }
    if (byte === OPEN_ARRAY && expected === 'list') this.#expected = 'first';
    else if (byte === COMMA && expected === 'separator') this.#expected = 'item';
    else if (byte === CLOSE_ARRAY && (expected === 'first' || expected === 'separator')) this.#expected = 'nothing';
    else throw new NotAJsonList('it is not a JSON array of objects');
    return false;
  }

  /** Reads a byte of an item; true: the item ends with it. */
  #endsItem(byte: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return false;
    }
    if (byte === QUOTE) this.#inString = true;
    else if (byte === COMMA) this.#commas += 1;
    else if (byte === CLOSE_OBJECT) return true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) throw new NotAJsonList('an item has lists or objects in it');
    if (this.#commas >= this.#bounds.fieldsMax) throw new NotAJsonList('an item has too many fields');
    return false;
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#bounds.itemBytesMax) throw new NotAJsonList('an item is too large');
    this.#pieces.push(piece);
  }

  #finishItem(): void {
    this.#items += 1;
    if (this.#items > this.#bounds.itemsMax) throw new NotAJsonList('it has too many items');
    const item = parsed(Buffer.concat(this.#pieces).toString());
    if (!this.#bounds.accepts(item)) throw new NotAJsonList(`item ${this.#items - 1} has not the fields of its kind`);
    [this.#pieces, this.#bytes, this.#commas] = [[], 0, 0];
    this.#expected = 'separator';
    this.#onItem(item);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new NotAJsonList('an item is not JSON', { cause });
  }
}
