/** Pictures by name, up to `bytesMax` bytes together; the one that was not asked for longest goes first. */
export class PictureCache {
  readonly #bytesMax: number;
  readonly #pictures = new Map<string, Buffer>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(name: string): Buffer | undefined {
    const found = this.#pictures.get(name);
    if (found) {
      this.#pictures.delete(name);
      this.#pictures.set(name, found);
    }
    return found;
  }

  set(name: string, picture: Buffer): void {
    this.#remove(name);
    if (picture.length > this.#bytesMax) return;
    this.#pictures.set(name, picture);
    this.#bytes += picture.length;
    for (const oldest of this.#pictures.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest);
    }
  }

  #remove(name: string): void {
    this.#bytes -= this.#pictures.get(name)?.length ?? 0;
    this.#pictures.delete(name);
  }
}
