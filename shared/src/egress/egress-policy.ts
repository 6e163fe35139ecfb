import { isIP } from 'node:net';
import { addressBlocks } from '../urls/address-blocks.ts';
import { AddressPolicy } from '../urls/address-policy.ts';
import { canonicalHost, isPublicHost } from '../urls/public-host.ts';

/** What the service dials for a client: public servers over TLS, and the operator's own networks, also without TLS. */
export class EgressPolicy {
  readonly #public: AddressPolicy;
  readonly #isOperators: (address: string) => boolean;
  readonly #hasOperators: boolean;

  /**
   * `allowed` (the operator's own networks) and `denied`: blocks in CIDR notation. Throws for one that cannot be read.
   */
  constructor(allowed: readonly string[], denied: readonly string[]) {
    this.#public = new AddressPolicy(denied);
    this.#isOperators = addressBlocks(allowed);
    this.#hasOperators = allowed.length > 0;
  }

  /** Whether an address, as a resolver returns it, may be dialled for a URL of this protocol (`https:` or `http:`). */
  allowsAddress(address: string, protocol: string): boolean {
    if (isIP(address) === 0) return false;
    return this.#isOperators(address) || (protocol === 'https:' && this.#public.allowsAddress(address));
  }

  /**
   * Why a client may not give this URL; null: it may. Nothing is resolved: a name whose addresses are refused is found
   * when it is dialled. With networks of the operator any name may be one of them.
   */
  refusalOf(text: string): 'not_a_url' | 'not_https' | 'blocked_address' | null {
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return 'not_a_url';
    const host = canonicalHost(url.hostname);
    if (host === null) return 'not_a_url';
    if (isIP(host) !== 0) {
      if (this.allowsAddress(host, url.protocol)) return null;
      return url.protocol === 'https:' ? 'blocked_address' : 'not_https';
    }
    if (this.#hasOperators) return null;
    if (url.protocol !== 'https:') return 'not_https';
    return isPublicHost(host) ? null : 'blocked_address';
  }
}
