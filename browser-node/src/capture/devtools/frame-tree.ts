/** Frames of a context whose parents are remembered. */
const FRAMES_MAX = 10_000;

/** The parents of all frames that a context ever had, also of those that were removed, by CDP's ids. */
export class FrameTree {
  readonly #parents = new Map<string, string>();

  add(frameId: string, parentId: string): void {
    if (this.#parents.size < FRAMES_MAX) this.#parents.set(frameId, parentId);
  }

  parentOf(frameId: string): string | null {
    return this.#parents.get(frameId) ?? null;
  }

  /** Whether the frame ever had frames in it. */
  hasChildren(frameId: string): boolean {
    return this.#parents.values().some((parent) => parent === frameId);
  }

  /** The first of a frame and its ancestors that is among `frames`, from the inside out; null: none is. */
  nearest(frameId: string | null, frames: ReadonlySet<string>): string | null {
    // A frame keeps its parent for life, so the ancestors end.
    for (let at = frameId; at !== null; at = this.parentOf(at)) if (frames.has(at)) return at;
    return null;
  }
}
