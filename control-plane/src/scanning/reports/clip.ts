/** Longest texts of a page that a report repeats, in UTF-16 units. */
export const URL_MAX = 8_192;
/** The same for URLs of long lists: trackers and a creative's requests. */
export const LISTED_URL_MAX = 2_048;
export const DETAIL_MAX = 2_000;
export const TITLE_MAX = 300;
export const TYPE_MAX = 60;

/** The first `max` UTF-16 units of a text, and how many more there were. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
}
