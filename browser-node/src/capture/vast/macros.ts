import { randomInt, randomUUID } from 'node:crypto';

/** The values that macros stand for when a player requests a URL (VAST 4.3, 6). Times in ms, sizes in CSS pixels. */
export type MacroContext = {
  now: Date;
  pageUrl: string;
  userAgent: string;
  player: { width: number; height: number; muted: boolean };
  playheadMs: number;
  assetUrl: string;
  podSequence: number;
  /** The ad's ids in its document, '' = none; `universalAdIds` as `registry value`. */
  adServingId: string;
  universalAdIds: readonly string[];
  /** Why a verification script did not run (VAST 4.3, 3.17.3), null = not reported here. */
  reason: number | null;
  transactionId: string;
  errorCode: number | null;
  /** Where a click was, from the player's top left corner. */
  click: { x: number; y: number } | null;
};

type Value = string | number | readonly (string | number)[];

/** A value that is unknown (VAST 4.3, 6.1). */
const UNKNOWN = '-1';

/** Macros whose value a player may report as unknown, and we do. */
const UNKNOWNS =
  'DEVICEIP LATLONG IFA IFATYPE LIMITADTRACKING REGULATIONS GDPRCONSENT SERVERUA SERVERSIDE OMIDPARTNER VERIFICATIONVENDORS GPPSTRING ' +
  'ADCATEGORIES BLOCKEDADCATEGORIES GPPSECTIONID APPBUNDLE STOREID STOREURL CONTENTID CONTENTURI CONTENTCAT EXTENSIONS BREAKMINDURATION ' +
  'BREAKMAXDURATION BREAKMINADLENGTH BREAKMAXADLENGTH BREAKMAXADS MEDIAPLAYHEAD CONTENTPLAYHEAD';

/** VAST 2, 3, 4.0 to 4.3, and their wrappers (AdCOM 1.0, "Creative Subtypes"). */
const VAST_VERSIONS = [2, 3, 5, 6, 7, 8, 11, 12, 13, 14];
/** VPAID 2.0 (AdCOM 1.0, "API Frameworks"). */
const API_FRAMEWORKS = [2];

const FILLERS: Record<string, (context: MacroContext) => Value> = {
  TIMESTAMP: ({ now }) => now.toISOString().replace('Z', '+00:00'),
  CACHEBUSTING: () => String(randomInt(10_000_000, 100_000_000)),
  RANDOM: () => String(randomInt(10_000_000, 100_000_000)),
  ERRORCODE: ({ errorCode }) => errorCode ?? UNKNOWN,
  ADPLAYHEAD: ({ playheadMs }) => clockOf(playheadMs),
  ASSETURI: ({ assetUrl }) => assetUrl || UNKNOWN,
  ADCOUNT: () => 1,
  ADTYPE: () => 'video',
  PAGEURL: ({ pageUrl }) => pageUrl,
  DOMAIN: ({ pageUrl }) => URL.parse(pageUrl)?.hostname ?? UNKNOWN,
  PLAYERSIZE: ({ player }) => [player.width, player.height],
  PLAYERSTATE: ({ player }) => [...(player.muted ? ['muted'] : []), 'autoplayed'],
  PLAYERCAPABILITIES: () => ['mute', 'autoplay', 'mautoplay'],
  PLACEMENTTYPE: () => 1,
  BREAKPOSITION: () => 1,
  CLICKTYPE: () => 1,
  CLICKPOS: ({ click }) => (click ? [click.x, click.y] : UNKNOWN),
  DEVICEUA: ({ userAgent }) => userAgent,
  CLIENTUA: () => UNKNOWN,
  INVENTORYSTATE: () => 'autoplayed',
  MEDIAMIME: () => ['video/mp4', 'video/webm'],
  VASTVERSIONS: () => VAST_VERSIONS,
  APIFRAMEWORKS: () => API_FRAMEWORKS,
  PODSEQUENCE: ({ podSequence }) => podSequence,
  ADSERVINGID: ({ adServingId }) => adServingId || UNKNOWN,
  UNIVERSALADID: ({ universalAdIds }) => (universalAdIds.length > 0 ? universalAdIds : UNKNOWN),
  REASON: ({ reason }) => reason ?? UNKNOWN,
  TRANSACTIONID: ({ transactionId }) => transactionId,
  ...Object.fromEntries(UNKNOWNS.split(' ').map((name) => [name, () => UNKNOWN])),
};

/** The most characters of a macro's value before it is encoded. */
const VALUE_MAX = 1_024;
/** The most characters of a filled URL: the documents' servers choose how often a value of theirs is inserted. */
export const FILLED_URL_MAX = 65_536;

/**
 * A URL with its macros filled, in any letter case, each value percent-encoded; other text in brackets stays. A value
 * is cut to 1,024 characters, and one with which the URL would exceed {@link FILLED_URL_MAX} is unknown (-1).
 */
export function fillMacros(url: string, context: MacroContext): string {
  let left = FILLED_URL_MAX - url.length;
  return url.replace(/\[([A-Za-z]{3,24})\]|%5B([A-Za-z]{3,24})%5D/g, (whole, plain, encoded) => {
    const fill = FILLERS[String(plain ?? encoded).toUpperCase()];
    if (!fill) return whole;
    const value = encodeValue(fill(context));
    if (value.length > left) return UNKNOWN;
    left -= value.length;
    return value;
  });
}

/**
 * The values of a list together have at most as many characters as one value. Half a surrogate pair cannot be encoded.
 */
function encodeValue(value: Value): string {
  let left = VALUE_MAX;
  const encoded: string[] = [];
  for (const one of [value].flat()) {
    if (left <= 0) break;
    const text = String(one).slice(0, left);
    left -= text.length + 1;
    encoded.push(encodeURIComponent(text.toWellFormed()));
  }
  return encoded.join(',');
}

export const newTransactionId = (): string => randomUUID();

/** `HH:MM:SS.mmm`. */
export function clockOf(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  return new Date(Math.min(whole, 359_999_999)).toISOString().slice(11, 23);
}
