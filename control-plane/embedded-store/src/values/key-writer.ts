/** Bytes being written, front to back. Grows as needed; `bytes()` is a copy that nothing else writes to. */
export class KeyWriter {
  #buffer = Buffer.allocUnsafe(64);
  #length = 0;

  byte(value: number): void {
    this.#room(1);
    this.#buffer[this.#length++] = value;
  }

  raw(value: Uint8Array): void {
    this.#room(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  uint32(value: number): void {
    this.#room(4);
    this.#length = this.#buffer.writeUInt32BE(value, this.#length);
  }

  /**
   * Terminated UTF-8: a NUL inside is followed by 0xff, the end is two NULs, so that no string is the prefix of
   * another.
   */
  text(value: string): void {
    if (value.includes('\0')) {
      this.raw(Buffer.from(Buffer.from(value).toString('latin1').replaceAll('\0', '\0\xff'), 'latin1'));
    } else {
      this.#room(value.length * 3);
      this.#length += this.#buffer.write(value, this.#length);
    }
    this.byte(0);
    this.byte(0);
  }

  /** A double in eight bytes that sort as the number does; NaN sorts first, the two zeros are one. */
  double(value: number): void {
    this.#room(8);
    if (Number.isNaN(value)) this.#buffer.fill(0, this.#length, this.#length + 8);
    else {
      this.#buffer.writeDoubleBE(value === 0 ? 0 : value, this.#length);
      const negative = (this.#buffer[this.#length]! & 0x80) !== 0;
      if (negative) this.#invert(this.#length, this.#length + 8);
      else this.#buffer[this.#length]! |= 0x80;
    }
    this.#length += 8;
  }

  get length(): number {
    return this.#length;
  }

  /** Inverts everything from `start`, which reverses its order: a descending component of an index. */
  invertFrom(start: number): void {
    this.#invert(start, this.#length);
  }

  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  #invert(from: number, to: number): void {
    for (let at = from; at < to; at++) this.#buffer[at]! ^= 0xff;
  }

  #room(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
