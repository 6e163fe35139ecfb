import { PROXY_TYPES, type ProxyType } from '@adsweep/shared/targeting/catalogue.ts';
import { PARCEL_CHAIN } from './chains.ts';

/** The scan request of a first start: a redirect chain to a back-button hijacker, quick to scan and with findings. */
export const DEMO_PAGE = { url: PARCEL_CHAIN[0]!.url, country_code: 'DE', emulator_id: 'android_phone_pixel_8' };

/** The request of a sweep of the ad world's front page, which has six ads. */
export const DEMO_SWEEP = {
  url: 'http://news.publisher.example/front',
  country_code: 'DE',
  emulator_id: 'windows_chrome',
  ad_discovery: true,
};

type DemoExit = {
  id: string;
  country_code: string;
  proxy_type: ProxyType;
  region: string;
  city: string;
  isp: string;
  pool_size: number;
  provider: 'direct';
};

/** Shape of the proxy-router's exits file. */
export type ExitsFile = { exits: object[]; hosts: Record<string, string> };

/** Places of the demo's exits, the country's largest first. The places are real, the ISPs below are not. */
const PLACES: Record<string, [region: string, city: string][]> = {
  AU: [
    ['New South Wales', 'Sydney'],
    ['Victoria', 'Melbourne'],
  ],
  BR: [
    ['Sao Paulo', 'Campinas'],
    ['Bahia', 'Salvador'],
  ],
  CA: [
    ['Ontario', 'Toronto'],
    ['Quebec', 'Montreal'],
  ],
  DE: [
    ['Bavaria', 'Munich'],
    ['Berlin', 'Berlin'],
    ['Bavaria', 'Nuremberg'],
  ],
  ES: [
    ['Madrid', 'Madrid'],
    ['Catalonia', 'Barcelona'],
  ],
  FR: [
    ['Ile-de-France', 'Paris'],
    ['Occitanie', 'Toulouse'],
  ],
  GB: [
    ['England', 'London'],
    ['England', 'Leeds'],
    ['Scotland', 'Glasgow'],
  ],
  IN: [
    ['Maharashtra', 'Mumbai'],
    ['Karnataka', 'Bengaluru'],
  ],
  IT: [
    ['Lombardy', 'Milan'],
    ['Lazio', 'Rome'],
  ],
  JP: [
    ['Tokyo', 'Tokyo'],
    ['Osaka', 'Osaka'],
  ],
  NL: [
    ['North Holland', 'Amsterdam'],
    ['South Holland', 'Rotterdam'],
  ],
  PL: [
    ['Masovia', 'Warsaw'],
    ['Lesser Poland', 'Krakow'],
  ],
  US: [
    ['California', 'Los Angeles'],
    ['New York', 'New York'],
    ['California', 'San Diego'],
    ['Texas', 'Austin'],
  ],
  ZA: [
    ['Gauteng', 'Johannesburg'],
    ['Western Cape', 'Cape Town'],
  ],
};

const ISPS: Record<ProxyType, string[]> = {
  residential: ['Lantern Broadband', 'Copperline'],
  mobile: ['Northwind Mobile', 'Kestrel Wireless'],
};

/** Domains of the ad world. */
const DOMAINS = [
  'publisher.example',
  'adserver.example',
  'tracker.example',
  'redirects.example',
  'shop.example',
  'offers.example',
  'casino.example',
];

/** Invented hosts of the ad world in the domains of real ad networks, by which scans name the networks of ads. */
const NETWORK_HOSTS = [
  'adsweep-demo.adnxs.com',
  'adsweep-demo.criteo.com',
  'adsweep-demo.taboola.com',
  'adsweep-demo.teads.tv',
  'adsweep-demo.popads.net',
];

/**
 * The demo's exits file: exits that leave from the router's machine, whatever place they name, and the names of the ad world mapped to
 * `<address>:<port>`, an IPv4 address. The operator's own exits and mappings take precedence.
 */
export function demoExits(port: number, address = '127.0.0.1'): ExitsFile {
  const names = [...DOMAINS.map((domain) => `*.${domain}`), ...NETWORK_HOSTS];
  const hosts = Object.fromEntries(names.map((name) => [name, `${address}:${port}`]));
  return { exits: directExits(), hosts };
}

function directExits(): DemoExit[] {
  return Object.keys(PLACES).flatMap((country) => PROXY_TYPES.flatMap((proxyType) => exitsOf(country, proxyType)));
}

function exitsOf(country_code: string, proxy_type: ProxyType): DemoExit[] {
  const places = PLACES[country_code] ?? [];
  return places.map(([region, city], index) => ({
    id: `${country_code}-${proxy_type}-${index + 1}`.toLowerCase(),
    country_code,
    proxy_type,
    region,
    city,
    isp: ISPS[proxy_type][index % 2]!,
    pool_size: 400 >> index,
    provider: 'direct',
  }));
}
