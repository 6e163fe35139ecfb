import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';

/** State that tests wait for: each call of `changed` makes `until` test its condition again. */
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
