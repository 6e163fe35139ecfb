/** A publisher that is nobody's (RFC 2606). */
const NEUTRAL_HOST = 'www.example.com';

/**
 * The address of the page that a creative stands on: the referrer without its fragment, else a neutral one with the scheme of the tag's
 * own first URL (https when it has none), so that an http creative is no mixed content. Pure.
 */
export function publisherUrl(referrer: string | null, tag: string): string {
  if (referrer && URL.canParse(referrer)) {
    const url = new URL(referrer);
    url.hash = '';
    return url.href;
  }
  const [, scheme = 'https'] = /\b(https?):\/\//i.exec(tag) ?? [];
  return `${scheme.toLowerCase()}://${NEUTRAL_HOST}/`;
}
