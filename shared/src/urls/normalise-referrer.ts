import { REFERRER_LENGTH_MAX } from '../limits.ts';
import type { AddressPolicy } from './address-policy.ts';

/** Why a client's URL is refused; `text` is for the client. */
export type UrlRefusal = { type: UrlRefusalType; text: string };
export type UrlRefusalType = 'url_parsing' | 'url_scheme' | 'url_credentials' | 'url_private_host' | 'url_too_long';

/**
 * The rules for every URL a client gives (spec 4.2, referrer): http or https, no credentials, a host that `addresses`
 * allows. Returns the parsed URL or why it is refused. Names are not resolved here.
 */
export function checkPublicUrl(text: string, addresses: AddressPolicy): URL | UrlRefusal {
  const url = URL.parse(text);
  if (!url) return { type: 'url_parsing', text: 'Must be an absolute URL, such as https://example.com/.' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { type: 'url_scheme', text: 'Must be an http or https URL.' };
  if (url.username !== '' || url.password !== '')
    return { type: 'url_credentials', text: 'Must not carry credentials.' };
  if (!addresses.allowsHost(url.hostname))
    return { type: 'url_private_host', text: 'Must have a host that is publicly routable.' };
  return url;
}

/**
 * A referrer as it is stored and sent: the WHATWG serialisation, which percent-encodes, at most 2048 characters of it
 * (spec 4.2).
 */
export function normaliseReferrer(text: string, addresses: AddressPolicy): string | UrlRefusal {
  const url = checkPublicUrl(text, addresses);
  if (!(url instanceof URL)) return url;
  if (url.href.length > REFERRER_LENGTH_MAX)
    return {
      type: 'url_too_long',
      text: `Must have at most ${REFERRER_LENGTH_MAX} characters after normalisation, not ${url.href.length}.`,
    };
  return url.href;
}
