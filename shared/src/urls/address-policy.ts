import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { addressBlocks } from './address-blocks.ts';
import { canonicalHost, isPublicAddress, isPublicHost } from './public-host.ts';

/** Interfaces are added and removed (a VPN, a container network); reading them takes well under a millisecond. */
const REREAD_MS = 5_000;

/** Characters of a host in any spelling. A name has 253 at most; this leaves room for percent-encoding. */
const HOST_LENGTH_MAX = 4_096;

/**
 * Which addresses a scan may reach: public ones, except those of this machine's own interfaces and those in the blocks
 * that the operator denies. The gateway applies it to every address it dials, the API to every URL that a client gives.
 */
export class AddressPolicy {
  readonly #isDenied: (address: string) => boolean;
  readonly #readOwn: () => string[];
  #isOwn: (address: string) => boolean;
  #readAt = performance.now();

  /** `denied`: blocks in CIDR notation. Throws for one that cannot be read. */
  constructor(denied: readonly string[], readOwn: () => string[] = interfaceAddresses) {
    this.#isDenied = addressBlocks(denied);
    this.#readOwn = readOwn;
    this.#isOwn = addressBlocks(readOwn());
  }

  /** Whether an IP address, as a resolver returns it, may be dialled. False for anything else. */
  allowsAddress(address: string): boolean {
    this.#reread();
    return isPublicAddress(address) && !this.#isOwn(address) && !this.#isDenied(address);
  }

  /**
   * Whether a URL's or CONNECT's host may be reached, in any spelling; names are not resolved. See
   * {@link isPublicHost}.
   */
  allowsHost(host: string): boolean {
    if (host.length > HOST_LENGTH_MAX) return false;
    const name = canonicalHost(host);
    return name !== null && isPublicHost(host) && (isIP(name) === 0 || this.allowsAddress(name));
  }

  #reread(): void {
    if (performance.now() - this.#readAt < REREAD_MS) return;
    this.#readAt = performance.now();
    this.#isOwn = addressBlocks(this.#readOwn());
  }
}

/** The addresses of all interfaces of this machine that are up, without the zones of link-local ones. */
function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address.replace(/%.*$/, ''));
}
