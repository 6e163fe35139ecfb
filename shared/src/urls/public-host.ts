import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { addressBlocks } from './address-blocks.ts';

/**
 * IANA's special-purpose IPv4 blocks that are not globally reachable, with multicast and the reserved top (RFC 6890,
 * RFC 5771), and Azure's platform address, which answers every virtual machine there with its configuration.
 */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/**
 * IANA's special-purpose IPv6 blocks. Those that carry an IPv4 address inside (mapped, compatible, NAT64, 6to4, Teredo)
 * are here whole: the translator of another network decides where they lead.
 */
const SPECIAL_IPV6 = [
  '::/32',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/**
 * Names that mean this machine or this network (RFC 6761, 6762, 8375), and clouds' metadata services under public
 * suffixes.
 */
const INTERNAL_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa'];
const METADATA_NAMES = ['metadata.goog', 'metadata.tencentyun.com'];

const isSpecial = addressBlocks([...SPECIAL_IPV4, ...SPECIAL_IPV6]);

/** Longest name and longest label of the domain name system, in characters without the final dot (RFC 1035 2.3.4). */
const NAME_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

/**
 * Whether an IP address, as a resolver gives it, is reachable from the public internet. False for what is no address.
 */
export function isPublicAddress(address: string): boolean {
  // A zone (`fe80::1%eth0`) names a link of this machine.
  return isIP(address) !== 0 && !address.includes('%') && !isSpecial(address);
}

/**
 * The one spelling of a host that everybody would dial: lower case, punycode, IPv4 literals in any base as four
 * decimals, IPv6 without brackets, no final dot (WHATWG URL host parsing). Null for what is no host; a name that is too
 * long for the domain name system is not looked at further.
 */
export function canonicalHost(host: string): string | null {
  if (/[\s/\\?#@]|^[^[]*:|\]./.test(host)) return null;
  const hostname = URL.parse(`http://${host}/`)?.hostname.replace(/\.$/, '') ?? '';
  // Too long to be looked at label by label; see hasNameLength.
  if (hostname.length > NAME_LENGTH_MAX) return hostname;
  // What stays `xn--` has no Unicode form: browsers take it for no host, Node.js' parser does not mind.
  const hasBadLabel = domainToUnicode(hostname)
    .split('.')
    .some((label) => label === '' || label.startsWith('xn--'));
  return hasBadLabel ? null : withoutBrackets(hostname);
}

/** A URL's `hostname`; an IPv6 address without its brackets. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Whether a host in its canonical spelling is short enough for the domain name system. A longer one can never resolve.
 */
export function hasNameLength(host: string): boolean {
  return host.length <= NAME_LENGTH_MAX && host.split('.').every((label) => label.length <= LABEL_LENGTH_MAX);
}

/**
 * Whether a URL's or CONNECT's host (a name, or an IP literal in any spelling) may be a public one; nothing is
 * resolved. False for private and special addresses, single-label names, internal and metadata names, names that are
 * too long for the domain name system, and what is no host (spec 4.2, referrer).
 */
export function isPublicHost(host: string): boolean {
  const name = canonicalHost(host);
  if (name === null || !hasNameLength(name)) return false;
  if (isIP(name) !== 0) return isPublicAddress(name);
  const isWithin = (suffix: string) => name === suffix || name.endsWith(`.${suffix}`);
  return name.includes('.') && !INTERNAL_SUFFIXES.some(isWithin) && !METADATA_NAMES.some(isWithin);
}
