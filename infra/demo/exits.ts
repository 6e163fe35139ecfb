import { existsSync, readFileSync } from 'node:fs';
import { adWorldSites } from './sites.ts';

type ExitsFile = { exits: object[]; hosts: Record<string, string> };

/** What `npm start` scans first: a click on an ad that takes every kind of redirect to its landing. */
export const DEMO_PAGE = {
  url: 'http://go.redirects.example/start',
  country_code: 'US',
  emulator_id: 'windows_chrome',
};

/** Countries of the demo with places that can be wished: `[country, region, city, isp]`. */
const PLACES = [
  ['US', 'California', 'Los Angeles', 'Pacific Cable'],
  ['US', 'New York', 'New York', 'Hudson Fiber'],
  ['GB', 'England', 'London', 'Thames Broadband'],
  ['DE', 'Bavaria', 'Munich', 'Isar Netz'],
  ['FR', 'Ile-de-France', 'Paris', 'Seine Telecom'],
  ['ES', 'Catalonia', 'Barcelona', 'Costa Fibra'],
  ['IT', 'Lombardy', 'Milan', 'Rete Nord'],
  ['PL', 'Masovia', 'Warsaw', 'Wisla Net'],
  ['BR', 'Sao Paulo', 'Sao Paulo', 'Paulista Banda Larga'],
  ['IN', 'Maharashtra', 'Mumbai', 'Konkan Online'],
  ['JP', 'Tokyo', 'Tokyo', 'Edo Hikari'],
  ['AU', 'Victoria', 'Melbourne', 'Yarra Net'],
] as const;

/**
 * The exits file of a farm with the ad world on `port`: the operator's own file where there is one, else exits of this machine that
 * stand for places of the world; the ad world's names are mapped beside the operator's.
 */
export function demoExits(port: number, ownFile: string | undefined): ExitsFile {
  const own = ownFile && existsSync(ownFile) ? (JSON.parse(readFileSync(ownFile, 'utf8')) as Partial<ExitsFile>) : {};
  const hosts = Object.fromEntries(Object.keys(adWorldSites()).map((name) => [name, `127.0.0.1:${port}`]));
  return { exits: own.exits ?? PLACES.flatMap(exitsOf), hosts: { ...hosts, ...own.hosts } };
}

function exitsOf([country_code, region, city, isp]: (typeof PLACES)[number], index: number): object[] {
  return (['residential', 'mobile'] as const).map((proxy_type) => ({
    id: `${country_code}-${proxy_type}-${index}`.toLowerCase(),
    country_code,
    proxy_type,
    region,
    city,
    isp: proxy_type === 'mobile' ? `${isp} Mobile` : isp,
    pool_size: (PLACES.length - index) * (proxy_type === 'mobile' ? 10 : 100),
    provider: 'direct',
  }));
}
