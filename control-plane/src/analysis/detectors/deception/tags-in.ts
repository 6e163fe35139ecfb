/** The start tag of an element, by its name and what stands behind it: `attributes`, and where its content begins. */
export type StartTag = { name: string; attributes: string; end: number };

/** A tag of more characters than this is left out: its attributes hold data. */
const TAG_LENGTH_MAX = 5_000;

/**
 * The start tags of `names` in HTML as a browser serialises it, in which no attribute value holds an angle bracket. Linear, whatever the
 * HTML: no place is looked at twice.
 */
export function* tagsIn(html: string, names: readonly string[]): Generator<StartTag> {
  let closing = -1;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    const name = names.find((one) => html.startsWith(one, at + 1) && /[\s>]/.test(html.charAt(at + 1 + one.length)));
    if (!name) continue;
    if (closing < at) closing = html.indexOf('>', at);
    if (closing < 0) return;
    if (closing - at <= TAG_LENGTH_MAX)
      yield { name, attributes: html.slice(at + 1 + name.length, closing), end: closing + 1 };
  }
}
