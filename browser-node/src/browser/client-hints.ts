import type { ClientHints, Device } from '@adsweep/shared/scan/devices/device.ts';

/** GiB of memory of phones and tablets: the most that Chrome reports on Android. */
export const MEMORY_MAX_MOBILE = 8;

type Brand = { brand: string; version: string };

/** CDP's `Emulation.UserAgentMetadata`. */
export type UserAgentMetadata = Omit<ClientHints, 'brand'> & {
  brands: Brand[];
  fullVersionList: Brand[];
  fullVersion: string;
  formFactors: string[];
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
 * The brands of a Chromium of that major version, in its order: the GREASE brand, its version and the order depend on
 * the version alone (User-Agent Client Hints, 6.2, as Chromium implements it).
 */
export function brandsOf(brand: string, major: number, version: (major: number) => string): Brand[] {
  const character = (offset: number) => GREASE_CHARACTERS[(major + offset) % GREASE_CHARACTERS.length];
  const greaseMajor = GREASE_VERSIONS[major % GREASE_VERSIONS.length] as string;
  const brands: Brand[] = [
    { brand: `Not${character(0)}A${character(1)}Brand`, version: version(Number(greaseMajor)) },
    { brand: 'Chromium', version: version(major) },
    { brand, version: version(major) },
  ];
  const ordered: Brand[] = [];
  const order = ORDERS[major % ORDERS.length] as readonly number[];
  for (const [index, position] of order.entries()) ordered[position] = brands[index] as Brand;
  return ordered;
}

/**
 * A device's client hints on a Chromium of version `browserVersion` (`156.0.8078.79`); undefined for a browser without
 * any.
 */
export function userAgentMetadata(device: Device, browserVersion: string): UserAgentMetadata | undefined {
  if (!device.clientHints) return undefined;
  const { brand, ...hints } = device.clientHints;
  const major = majorOf(browserVersion);
  const full = (of: number) => (of === major ? browserVersion : `${of}.0.0.0`);
  return {
    ...hints,
    brands: brandsOf(brand, major, String),
    fullVersionList: brandsOf(brand, major, full),
    fullVersion: browserVersion,
    formFactors: [formFactorOf(device, hints.mobile)],
    wow64: false,
  };
}

/** Hints by their names without `sec-ch-`, in lower case; null: the browser sends none. */
export type HintValues = ReadonlyMap<string, string> | null;
type Header = { name: string; value: string };
const HINT = /^(sec-ch-.*|dpr|device-memory|viewport-width|width|rtt|downlink|ect|save-data)$/i;

/**
 * The hints with the request for a document, for servers that asked for them (`Accept-CH`). Chromium itself would send
 * the machine's there; with the requests that documents make it sends those of the emulated screen.
 */
export function hintValues(device: Device): HintValues {
  if (!device.clientHints) return null;
  const memory: [string, string][] = device.mobile ? [['device-memory', String(MEMORY_MAX_MOBILE)]] : [];
  return new Map([['dpr', String(device.deviceScaleFactor)], ...memory]);
}

/** Headers with the device's hints in place of different ones; null: nothing to change. */
export function amendedHints(headers: Record<string, string>, hints: HintValues): Header[] | null {
  const sent = Object.entries(headers).map(([name, value]) => ({ name, value }));
  if (hints === null) {
    const others = sent.filter(({ name }) => !HINT.test(name));
    return others.length < sent.length ? others : null;
  }
  const own = ({ name, value }: Header) => hints.get(name.toLowerCase().replace('sec-ch-', '')) ?? value;
  const isTrue = (header: Header) => own(header) === header.value;
  return sent.every(isTrue) ? null : sent.map((header) => ({ name: header.name, value: own(header) }));
}

/** The value of `Sec-CH-UA-Form-Factors`; of devices with touch, only phones are `mobile` in client hints. */
const formFactorOf = (device: Device, isPhone: boolean): string =>
  isPhone ? 'Mobile' : device.mobile ? 'Tablet' : 'Desktop';

/** `156.0.8078.79` -> 156. */
export const majorOf = (browserVersion: string): number => Number.parseInt(browserVersion, 10);

/** The device's user agent on a Chromium of that version. */
export const userAgentOf = (device: Device, browserVersion: string): string =>
  device.userAgent.replaceAll('{major}', String(majorOf(browserVersion)));
