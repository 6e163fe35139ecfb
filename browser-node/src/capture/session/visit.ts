/**
 * What the capture itself does in the tabs, in this order:
 * - `loading`: it waits and watches;
 * - `navigating`: it navigates a tab itself, then goes on with `loading`;
 * - `clicking`: it clicks a creative to see where it leads;
 * - `checking`: it clicks a creative only to see which of its elements open something; what they open is not a landing;
 * - `probing`: a collector tries what a visitor might do, and the record is closed.
 */
export type Phase = 'loading' | 'navigating' | 'clicking' | 'checking' | 'probing';

/**
 * The progress of one member's visit. Collectors read it when a page does something, to tell the page's own doing from
 * ours.
 */
export class Visit {
  #phase: Phase = 'loading';
  #clicks = 0;
  readonly #isClicked: (frameId: string | null) => boolean;

  /**
   * `isClicked`: whether a frame belongs to what the visit clicks; absent: all do. The frames of the other ads of a
   * page do not: what they do meanwhile they do without a gesture, as far as Chromium does not report one. It gives
   * every frame of the clicked one's origin its user activation, so a window that another ad of that origin opens in
   * those five seconds counts as clicked.
   */
  constructor(isClicked: (frameId: string | null) => boolean = () => true) {
    this.#isClicked = isClicked;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Clicks made so far to see where a creative leads. */
  get clicks(): number {
    return this.#clicks;
  }

  /** Whether what pages do now is done without a user gesture: nothing was clicked, and no probe has begun. */
  get isWithoutGesture(): boolean {
    return this.#phase === 'loading' || this.#phase === 'navigating';
  }

  /** The same for what a frame does now, by CDP's id; null: the page itself, or it is not known. */
  isUnprompted(frameId: string | null): boolean {
    return this.isWithoutGesture || (this.#phase !== 'probing' && !this.#isClicked(frameId));
  }

  /** Runs a navigation of ours, before anything is clicked. */
  async navigate<T>(navigation: () => Promise<T>): Promise<T> {
    this.#phase = 'navigating';
    try {
      return await navigation();
    } finally {
      this.#phase = 'loading';
    }
  }

  /** Counts a click that is about to be made to see where a creative leads. */
  click(): void {
    this.#phase = 'clicking';
    this.#clicks += 1;
  }

  beginCheck(): void {
    this.#phase = 'checking';
  }

  /** Closes the record of `journal`: what pages do from here on answers the probe. */
  beginProbe(journal: { close(): void }): void {
    this.#phase = 'probing';
    journal.close();
  }
}
