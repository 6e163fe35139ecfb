import { createHash } from 'node:crypto';
import { EMULATOR_CATEGORIES } from '@adsweep/shared/scan/devices/device.ts';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { GEO_REGIONS, geoOf } from '@adsweep/shared/scan/geos.ts';
import { type Catalogue, PROXY_TYPES, type ProxyType } from '@adsweep/shared/targeting/catalogue.ts';
import { Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { conditional } from '../../http/conditional-get.ts';
import { moment, ok, type Route, route } from '../../http/route.ts';
import {
  catalogueNotReady,
  countriesOf,
  poolOf,
  proxyTypeIssues,
  type ReadCatalogue,
  readProxyType,
  refreshedAt,
  spelled,
} from './lookup.ts';

const GeoSchema = Type.Object(
  {
    country_code: Type.String({ description: 'ISO 3166-1 alpha-2.' }),
    name: Type.String(),
    region: Type.Enum(GEO_REGIONS),
    tier: Type.Enum(['tier-1', 'tier-2', 'tier-3']),
  },
  { title: 'Geo' },
);

const EmulatorSchema = Type.Object(
  {
    id: Type.String(),
    display_name: Type.String(),
    category: Type.Enum(EMULATOR_CATEGORIES),
    browser: Type.String(),
  },
  { title: 'Emulator' },
);

const TargetingSchema = Type.Object(
  {
    country_code: Type.String(),
    proxy_type: Type.Enum(PROXY_TYPES),
    regions: Type.Array(Type.String(), { description: 'Largest pool first.' }),
    cities: Type.Array(Type.String(), {
      description: 'The cities of the country, or of `region` if it is sent; largest pool first.',
    }),
    isps: Type.Array(Type.String(), { description: 'Largest pool first.' }),
    refreshed_at: Type.Union([moment(), Type.Null()], {
      description: 'When the lists were last verified; null: not yet.',
    }),
    ttl_seconds: Type.Integer({ description: 'Equals the `max-age` of the response.' }),
  },
  { title: 'Targeting' },
);

/** How long a client may cache the lists; much shorter while they have not been read yet. */
const TTL_SECONDS = 86_400;
const TTL_WITHOUT_LISTS_SECONDS = 60;

/**
 * The accepted values of a scan's targeting: countries, emulators, and regions, cities and ISPs of exits (spec 4.1,
 * 4.5).
 */
export function catalogueRoutes(readCatalogue: ReadCatalogue): Route<Caller>[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/geos',
      group: 'Reference',
      summary: 'Supported countries',
      description: 'The values of `country_code`, each with its name. They follow the exits that are configured.',
      permission: 'any',
      replies: { 200: { description: 'The countries with at least one exit.', schema: Type.Array(GeoSchema) } },
      errors: ['catalogue.not_ready'],
      handle: () => {
        const catalogue = readCatalogue();
        if (!catalogue) throw catalogueNotReady();
        return ok(countriesOf(catalogue).flatMap((code) => geoOf(code) ?? []));
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/emulators',
      group: 'Reference',
      summary: 'Device emulators',
      description: 'The values of `emulator_id`, with the category and the browser of each device.',
      permission: 'any',
      replies: { 200: { description: 'All emulators, desktop and mobile.', schema: Type.Array(EmulatorSchema) } },
      handle: () =>
        ok(EMULATORS.map(({ id, display_name, category, browser }) => ({ id, display_name, category, browser }))),
    }),
    targetingRoute(readCatalogue),
  ];
}

function targetingRoute(readCatalogue: ReadCatalogue): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/proxy/targeting',
    group: 'Reference',
    summary: 'Regions, cities and ISPs of a country',
    description:
      'Values that a scan of this country accepts, in any letter case. A country without exits has empty lists. With `If-None-Match`: 304 while the lists have not changed.',
    permission: 'any',
    query: Type.Object(
      {
        country_code: Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'ISO 3166-1 alpha-2, any letter case.',
        }),
        proxy_type: Type.Optional(Type.String({ maxLength: 100, description: '`residential` (default) or `mobile`.' })),
        region: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'Limits `cities` to this region.' }),
        ),
      },
      { additionalProperties: false },
    ),
    replies: {
      200: { description: 'The lists.', schema: TargetingSchema },
      304: { description: 'Not modified: the client has the current lists.' },
    },
    refine: ({ query }) => proxyTypeIssues(query.proxy_type, ['query', 'proxy_type']),
    handle: ({ query, headers }) => {
      const country = query.country_code.toUpperCase();
      const body = targeting(readCatalogue(), country, readProxyType(query.proxy_type), query.region);
      const { refreshed_at, ttl_seconds, ...lists } = body;
      // Lists that were never verified say nothing, and empty ones that were say that there is no targeting.
      const contents = refreshed_at === null ? { ...lists, refreshed_at } : lists;
      const etag = `"${createHash('sha256').update(JSON.stringify(contents)).digest('base64url').slice(0, 27)}"`;
      return conditional(headers, etag, ok(body, { 'Cache-Control': `private, max-age=${ttl_seconds}` }));
    },
  });
}

/** The lists of a country and proxy type; `region`, in any letter case, limits the cities. */
function targeting(catalogue: Catalogue | null, country: string, proxyType: ProxyType, region: string | undefined) {
  const pool = catalogue && poolOf(catalogue, country, proxyType);
  const regionName = region === undefined ? null : spelled(pool?.regions ?? [], region);
  const refreshed_at = catalogue && refreshedAt(catalogue, country);
  const citiesOfRegion = regionName === null ? [] : (pool?.cities_by_region[regionName] ?? []);
  return {
    country_code: country,
    proxy_type: proxyType,
    regions: pool?.regions ?? [],
    cities: region === undefined ? (pool?.cities ?? []) : citiesOfRegion,
    isps: pool?.isps ?? [],
    refreshed_at,
    ttl_seconds: refreshed_at ? TTL_SECONDS : TTL_WITHOUT_LISTS_SECONDS,
  };
}
