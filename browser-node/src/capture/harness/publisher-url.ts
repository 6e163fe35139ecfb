import type { Target } from '@adsweep/shared/scan/target.ts';

/** A neutral publisher (RFC 2606). */
const NEUTRAL_HOST = 'www.example.com';
/** The longest host name (RFC 1035 2.3.4). */
const HOST_LENGTH_MAX = 253;

/**
 * The URL of the harness page: the referrer without its fragment, else a neutral one with the scheme of the tag's own
 * first URL (https if it has none), so that an http creative is not mixed content. Pure.
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

/** The fragment of the harness page's `location`: that of the referrer, '' = none. No server sees it. Pure. */
export const publisherFragment = (referrer: string | null): string => URL.parse(referrer ?? '')?.hash ?? '';

/** Whether a tag itself names a host and therefore may send requests to it. Pure. */
export const namesHost = (tag: string, host: string): boolean => tag.toLowerCase().includes(`//${host}`);

/**
 * Hosts that the exit of a capture must not reach: the publisher of the harness page (spec 4.2), unless the tag itself
 * names it. Pure.
 */
export function deniedHosts(target: Target, referrer: string | null): string[] {
  if (target.kind === 'url') return [];
  const { host, hostname } = new URL(publisherUrl(referrer, target.value));
  return namesHost(target.value, host) || hostname.length > HOST_LENGTH_MAX ? [] : [hostname];
}
