/** The locale of a browser in a country: `languages` as BCP 47 tags, the preferred first; `timezone` IANA. */
export type CountryLocale = { languages: string[]; timezone: string; coordinates: Coordinates | null };

/**
 * The languages, timezone and coordinates of a country (ISO 3166-1 alpha-2): its likely language first, then English.
 */
export function countryLocale(countryCode: string): CountryLocale {
  return { languages: languagesOf(countryCode), ...largestCity(countryCode) };
}

function languagesOf(countryCode: string): string[] {
  const { language } = new Intl.Locale(`und-${countryCode}`).maximize();
  const own = language === 'en' ? [] : [language];
  return [...new Set([`${language}-${countryCode}`, ...own, 'en-US', 'en'])];
}

/** Degrees, WGS 84. */
type Coordinates = { latitude: number; longitude: number };

// timezone, latitude, longitude; '' = the country has one timezone, which Intl knows.
const ROWS: Record<string, [timezone: string, latitude: number, longitude: number]> = {
  AE: ['', 25.205, 55.271],
  AL: ['', 41.328, 19.819],
  AM: ['', 40.178, 44.513],
  AO: ['', -8.839, 13.289],
  AQ: ['Antarctica/McMurdo', -77.846, 166.676],
  AR: ['America/Buenos_Aires', -34.604, -58.382],
  AT: ['', 48.208, 16.373],
  AU: ['Australia/Sydney', -33.869, 151.209],
  AZ: ['', 40.409, 49.867],
  BA: ['', 43.856, 18.413],
  BD: ['', 23.811, 90.413],
  BE: ['', 50.85, 4.352],
  BG: ['', 42.698, 23.322],
  BH: ['', 26.228, 50.586],
  BO: ['', -17.784, -63.182],
  BR: ['America/Sao_Paulo', -23.551, -46.633],
  BY: ['', 53.9, 27.567],
  CA: ['America/Toronto', 43.653, -79.383],
  CD: ['Africa/Kinshasa', -4.442, 15.266],
  CH: ['', 47.377, 8.541],
  CI: ['', 5.36, -4.008],
  CL: ['America/Santiago', -33.449, -70.669],
  CM: ['', 4.051, 9.768],
  CN: ['Asia/Shanghai', 31.23, 121.474],
  CO: ['', 4.711, -74.072],
  CR: ['', 9.928, -84.091],
  CU: ['', 23.114, -82.367],
  CY: ['Asia/Nicosia', 35.186, 33.382],
  CZ: ['', 50.075, 14.438],
  DE: ['Europe/Berlin', 52.52, 13.405],
  DK: ['', 55.676, 12.568],
  DO: ['', 18.486, -69.931],
  DZ: ['', 36.754, 3.059],
  EC: ['America/Guayaquil', -2.19, -79.888],
  EE: ['', 59.437, 24.754],
  EG: ['', 30.044, 31.236],
  ES: ['Europe/Madrid', 40.417, -3.704],
  ET: ['', 9.03, 38.74],
  FI: ['', 60.17, 24.938],
  FM: ['Pacific/Ponape', 6.917, 158.159],
  FR: ['', 48.857, 2.352],
  GB: ['', 51.507, -0.128],
  GE: ['', 41.716, 44.783],
  GH: ['', 5.604, -0.187],
  GL: ['America/Godthab', 64.184, -51.722],
  GR: ['', 37.984, 23.728],
  GT: ['', 14.634, -90.507],
  HK: ['', 22.32, 114.169],
  HN: ['', 14.073, -87.192],
  HR: ['', 45.815, 15.982],
  HU: ['', 47.498, 19.04],
  ID: ['Asia/Jakarta', -6.209, 106.846],
  IE: ['', 53.35, -6.26],
  IL: ['', 32.085, 34.782],
  IN: ['', 19.076, 72.878],
  IQ: ['', 33.315, 44.366],
  IR: ['', 35.689, 51.389],
  IS: ['', 64.147, -21.943],
  IT: ['', 41.903, 12.496],
  JM: ['', 17.971, -76.793],
  JO: ['', 31.954, 35.911],
  JP: ['', 35.69, 139.692],
  KE: ['', -1.286, 36.817],
  KG: ['', 42.875, 74.57],
  KH: ['', 11.556, 104.928],
  KI: ['Pacific/Tarawa', 1.329, 172.977],
  KR: ['', 37.567, 126.978],
  KW: ['', 29.376, 47.977],
  KZ: ['Asia/Almaty', 43.222, 76.851],
  LA: ['', 17.975, 102.633],
  LB: ['', 33.894, 35.502],
  LK: ['', 6.927, 79.861],
  LT: ['', 54.687, 25.28],
  LU: ['', 49.612, 6.13],
  LV: ['', 56.949, 24.105],
  LY: ['', 32.887, 13.191],
  MA: ['', 33.573, -7.59],
  MD: ['', 47.01, 28.864],
  ME: ['', 42.43, 19.259],
  MG: ['', -18.879, 47.508],
  MH: ['Pacific/Majuro', 7.09, 171.38],
  MK: ['', 41.998, 21.428],
  MM: ['', 16.867, 96.195],
  MN: ['Asia/Ulaanbaatar', 47.886, 106.906],
  MT: ['', 35.899, 14.514],
  MX: ['America/Mexico_City', 19.433, -99.133],
  MY: ['Asia/Kuala_Lumpur', 3.139, 101.687],
  MZ: ['', -25.969, 32.573],
  NG: ['', 6.524, 3.379],
  NI: ['', 12.115, -86.236],
  NL: ['', 52.368, 4.904],
  NO: ['', 59.914, 10.752],
  NP: ['', 27.717, 85.324],
  NZ: ['Pacific/Auckland', -36.848, 174.763],
  OM: ['', 23.588, 58.383],
  PA: ['', 8.982, -79.52],
  PE: ['', -12.046, -77.043],
  PF: ['Pacific/Tahiti', -17.535, -149.57],
  PG: ['Pacific/Port_Moresby', -9.443, 147.18],
  PH: ['', 14.599, 120.984],
  PK: ['', 24.861, 67.01],
  PL: ['', 52.23, 21.012],
  PR: ['', 18.466, -66.106],
  PS: ['Asia/Hebron', 31.532, 35.1],
  PT: ['Europe/Lisbon', 38.722, -9.139],
  PY: ['', -25.264, -57.576],
  QA: ['', 25.285, 51.531],
  RO: ['', 44.427, 26.102],
  RS: ['', 44.787, 20.457],
  RU: ['Europe/Moscow', 55.756, 37.617],
  SA: ['', 24.714, 46.675],
  SE: ['', 59.329, 18.069],
  SG: ['', 1.352, 103.82],
  SI: ['', 46.057, 14.506],
  SK: ['', 48.149, 17.107],
  SN: ['', 14.716, -17.467],
  SV: ['', 13.693, -89.218],
  TH: ['', 13.756, 100.502],
  TN: ['', 36.806, 10.181],
  TR: ['', 41.008, 28.978],
  TW: ['', 25.033, 121.565],
  TZ: ['', -6.792, 39.208],
  UA: ['Europe/Kiev', 50.45, 30.523],
  UG: ['', 0.348, 32.583],
  UM: ['Pacific/Midway', 28.208, -177.379],
  US: ['America/New_York', 40.713, -74.006],
  UY: ['', -34.901, -56.165],
  UZ: ['Asia/Tashkent', 41.3, 69.24],
  VE: ['', 10.48, -66.904],
  VN: ['', 10.823, 106.63],
  ZA: ['', -26.204, 28.047],
  ZM: ['', -15.388, 28.323],
  ZW: ['', -17.825, 31.034],
};

/**
 * The timezone (IANA) and coordinates of a country's largest city. Coordinates null: the table has none. Timezone UTC:
 * the country has no timezone because it is uninhabited.
 */
function largestCity(countryCode: string): { timezone: string; coordinates: Coordinates | null } {
  const [timezone = '', latitude, longitude] = ROWS[countryCode] ?? [];
  const known = latitude !== undefined && longitude !== undefined;
  return {
    timezone: timezone || onlyTimezone(countryCode) || 'UTC',
    coordinates: known ? { latitude, longitude } : null,
  };
}

function onlyTimezone(countryCode: string): string | undefined {
  // TypeScript's library does not know this method of ES2025 yet.
  const locale = new Intl.Locale(`und-${countryCode}`) as Intl.Locale & { getTimeZones(): string[] | undefined };
  return locale.getTimeZones()?.[0];
}
