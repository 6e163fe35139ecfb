import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';

/** Something that tests wait for: whoever changes it says so, and who waits looks again. */
export class Conditions {
  readonly #waiting = new Set<() => void>();

  changed(): void {
    for (const look of this.#waiting) look();
  }

  /** Resolves when `holds` does. */
  async until(holds: () => boolean, deadlineMs = 60_000): Promise<void> {
    let look = () => {};
    const held = new Promise<void>((resolve) => {
      look = () => holds() && resolve();
      this.#waiting.add(look);
      look();
    });
    await withDeadline(held, deadlineMs, `waiting for ${holds}`).finally(() => this.#waiting.delete(look));
  }
}
