import { type Html, html } from '../../http/pages/html.ts';

/**
 * The most bytes of a report: the budgets of its lists, the last item of each, and everything else. A test draws the
 * largest reports.
 */
export const REPORT_BYTES_MAX = 1024 * 1024;

/**
 * The bytes of HTML that a list in a report may have. A person reads no more, and a hostile page decides how many items
 * there are and how long their texts are. Items beyond the budget are counted and not drawn.
 */
export class ByteBudget {
  #bytes: number;
  /** How many items were not drawn. */
  leftOut = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Draws an item while some of the budget is left; the last one may exceed it. Null: nothing was left. */
  draw(item: () => Html): Html | null {
    if (this.#bytes <= 0) {
      this.leftOut += 1;
      return null;
    }
    const drawn = item();
    this.#bytes -= Buffer.byteLength(drawn.toString());
    return drawn;
  }

  /** Draws the items for which the budget suffices. */
  list<T>(items: readonly T[], show: (item: T, index: number) => Html): Html[] {
    return items.map((item, index) => this.draw(() => show(item, index))).filter((drawn) => drawn !== null);
  }
}

/** Says how many items a list leaves out; `words` in the plural, such as `more steps`. */
export const showLeftOut = (count: number, words: string): Html | false =>
  count > 0 &&
  html`<p class="quiet left-out">${count} ${words} left out: <code>GET /api/v1/scans/{id}</code> of the API returns all of them.</p>`;
