import type { ClientHints, Device } from '@adsweep/shared/scan/devices/device.ts';

type Brand = { brand: string; version: string };

/** CDP's `Emulation.UserAgentMetadata`. */
export type UserAgentMetadata = Omit<ClientHints, 'brand'> & {
  brands: Brand[];
  fullVersionList: Brand[];
  wow64: boolean;
};

const GREASE_CHARACTERS = [' ', '(', ':', '-', '.', '/', ')', ';', '=', '?', '_'];
const GREASE_VERSIONS = ['8', '99', '24'];
const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

/**
 * The brands a Chromium of that major version names, in its order: the made-up brand, its version and the order follow from the
 * version alone (User-Agent Client Hints, 6.2 "GREASE-like" behaviour, as Chromium does it).
 */
export function brandsOf(brand: string, major: number, version: (major: number) => string): Brand[] {
  const character = (offset: number) => GREASE_CHARACTERS[(major + offset) % GREASE_CHARACTERS.length];
  const greaseMajor = GREASE_VERSIONS[major % GREASE_VERSIONS.length] as string;
  const named: Brand[] = [
    { brand: `Not${character(0)}A${character(1)}Brand`, version: version(Number(greaseMajor)) },
    { brand: 'Chromium', version: version(major) },
    { brand, version: version(major) },
  ];
  const ordered: Brand[] = [];
  const order = ORDERS[major % ORDERS.length] as readonly number[];
  for (const [index, place] of order.entries()) ordered[place] = named[index] as Brand;
  return ordered;
}

/** A device's client hints on a Chromium of version `browserVersion` (`156.0.8078.79`); undefined for a browser without any. */
export function userAgentMetadata(device: Device, browserVersion: string): UserAgentMetadata | undefined {
  if (!device.clientHints) return undefined;
  const { brand, ...hints } = device.clientHints;
  const major = majorOf(browserVersion);
  const full = (of: number) => (of === major ? browserVersion : `${of}.0.0.0`);
  return {
    ...hints,
    brands: brandsOf(brand, major, String),
    fullVersionList: brandsOf(brand, major, full),
    wow64: false,
  };
}

/** `156.0.8078.79` -> 156. */
export const majorOf = (browserVersion: string): number => Number.parseInt(browserVersion, 10);

/** The device's user agent on a Chromium of that version. */
export const userAgentOf = (device: Device, browserVersion: string): string =>
  device.userAgent.replaceAll('{major}', String(majorOf(browserVersion)));
