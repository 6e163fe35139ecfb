/** Regions of the world in the API: the UN's M49 regions, and Antarctica for territories outside them. */
export const GEO_REGIONS = ['Africa', 'Americas', 'Asia', 'Europe', 'Oceania', 'Antarctica'] as const;
export type GeoRegion = (typeof GEO_REGIONS)[number];

/** How much advertising costs in a country, as media buyers group it: `tier-1` the most. */
export type GeoTier = 'tier-1' | 'tier-2' | 'tier-3';

/** A country as `GET /geos` lists it; `country_code` ISO 3166-1 alpha-2. */
export type Geo = { country_code: string; name: string; region: GeoRegion; tier: GeoTier };

const COUNTRIES: Record<GeoRegion, string> = {
  Africa:
    'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW IO KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW',
  Americas:
    'AG AI AR AW BB BL BM BO BQ BR BS BV BZ CA CL CO CR CU CW DM DO EC FK GD GF GL GP GS GT GY HN HT JM KN KY LC MF MQ MS MX NI PA PE PM PR PY SR SV SX TC TT US UY VC VE VG VI',
  Asia: 'AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE',
  Europe:
    'AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK',
  Oceania: 'AS AU CC CK CX FJ FM GU HM KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS',
  Antarctica: 'AQ',
};

const TIER_1 = new Set('AU AT BE CA CH DE DK FI FR GB IE IT JP LU NL NO NZ SE SG US'.split(' '));
const TIER_2 = new Set(
  'AE AR BG BR CL CN CO CY CZ EE ES GR HK HR HU IL IS KR KW LT LV MT MX MY PA PE PL PR PT QA RO RS RU SA SI SK TH TR TW UA UY ZA'.split(
    ' ',
  ),
);

const NAMES = new Intl.DisplayNames(['en'], { type: 'region' });
const REGION_OF = new Map(GEO_REGIONS.flatMap((region) => COUNTRIES[region].split(' ').map((code) => [code, region])));

/** The country of an ISO 3166-1 alpha-2 code in upper case; null for other codes. */
export function geoOf(countryCode: string): Geo | null {
  const region = REGION_OF.get(countryCode);
  if (!region) return null;
  return { country_code: countryCode, name: NAMES.of(countryCode) ?? countryCode, region, tier: tierOf(countryCode) };
}

function tierOf(countryCode: string): GeoTier {
  if (TIER_1.has(countryCode)) return 'tier-1';
  return TIER_2.has(countryCode) ? 'tier-2' : 'tier-3';
}
