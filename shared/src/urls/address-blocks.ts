import { BlockList, isIP } from 'node:net';

type AddressBlock = { network: string; bits: number; family: 'ipv4' | 'ipv6' };

/** A block in CIDR notation (RFC 4632, RFC 4291), or one address; null for anything else. */
export function readAddressBlock(text: string): AddressBlock | null {
  const [, network = '', digits] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(network);
  const longest = version === 4 ? 32 : 128;
  const bits = digits === undefined ? longest : Number(digits);
  return version === 0 || bits > longest ? null : { network, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/**
 * Whether an address is in one of the blocks. An IPv6 block that spans mapped IPv4 addresses (`::ffff:0:0/96`) does not
 * hold plain IPv4 ones. Throws for a block that cannot be read.
 */
export function addressBlocks(blocks: readonly string[]): (address: string) => boolean {
  // A list for each family: in a common list, an IPv4 address would be matched in its mapped form too.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of blocks) {
    const block = readAddressBlock(text);
    if (block === null) throw new Error(`${text} is not an address block`);
    lists[block.family].addSubnet(block.network, block.bits, block.family);
  }
  return (address) => (isIP(address) === 4 ? lists.ipv4.check(address) : lists.ipv6.check(address, 'ipv6'));
}

/** The blocks of a comma-separated list, without the spaces and empty entries in it. */
export function splitAddressBlocks(list: string): string[] {
  return list
    .split(',')
    .map((block) => block.trim())
    .filter((block) => block !== '');
}
