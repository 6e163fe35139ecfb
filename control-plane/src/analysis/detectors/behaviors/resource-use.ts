import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { CapturedVast } from '@adsweep/shared/capture/vast.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { type Detector, oneTag, type Sign } from '../detector.ts';
import { AD_SIZES } from './hidden-ads.ts';

/**
 * The least load of a thread that counts, as a share of its time, and for how long: a page that starts may be busy for
 * a while.
 */
const BUSY_SHARE = 0.8;
const HOG_MS = 4_000;
const LESS_BUSY_SHARE = 0.6;
const LESS_BUSY_MS = 7_000;
/**
 * The same for a worker, which is watched only when the page has long loaded. Miners leave a third of the time to the
 * page, to stay unnoticed.
 */
const WORKER_SHARE = 0.6;
const WORKER_MS = 3_000;

/**
 * Pages that keep a main thread or a worker busy long after they have loaded, or start frames and workers without end.
 */
export const cpuHog: Detector = {
  name: 'cpu_hog',
  needs: [],
  detect({ observations }) {
    const hogs = observationsOf(observations, 'main_thread').filter(
      ({ facts: { busy_share, over_ms } }) =>
        (busy_share >= BUSY_SHARE && over_ms >= HOG_MS) || (busy_share >= LESS_BUSY_SHARE && over_ms >= LESS_BUSY_MS),
    );
    const workers = observationsOf(observations, 'worker_load').filter((one) => isBusyWorker(one) && !hasSocket(one));
    const floods = observationsOf(observations, 'child_flood');
    return oneTag('cpu_hog', [
      ...hogs.map(({ landing, facts }) => {
        return { landing, text: `${Math.round(facts.busy_share * 100)} % busy over ${facts.over_ms} ms` };
      }),
      ...workers.map(({ landing, facts }) => {
        return { landing, text: `a worker ${Math.round(facts.busy_share * 100)} % busy over ${facts.over_ms} ms` };
      }),
      ...floods.map(({ landing, facts }) => {
        return { landing, text: `more than ${facts.children_max} frames and workers, and was stopped` };
      }),
    ]);
  },
};

const isBusyWorker = ({ facts }: ObservationOf<'worker_load'>): boolean =>
  facts.busy_share >= WORKER_SHARE && facts.over_ms >= WORKER_MS;

const hasSocket = ({ facts }: ObservationOf<'worker_load'>): boolean => facts.socket_url !== '';

/** Domains of scripts and pools whose only business is, or was, mining in browsers. */
const MINING_DOMAINS = new Set([
  'authedmine.com',
  'coin-have.com',
  'coin-hive.com',
  'coinhive.com',
  'coinimp.com',
  'coinpot.co',
  'crypto-loot.com',
  'cryptoloot.pro',
  'deepminer.net',
  'hashing.win',
  'hostingcloud.racing',
  'jsecoin.com',
  'minero.cc',
  'minr.pw',
  'monerominer.rocks',
  'moneroocean.stream',
  'ppoi.org',
  'projectpoi.com',
  'reasedoper.pw',
  'supportxmr.com',
  'webmine.cz',
  'webmine.pro',
  'webminepool.com',
  'webminerpool.com',
]);

/** Pages whose workers compute all the time while a socket is open, or that send requests to a known mining domain. */
export const cryptoMining: Detector<'requests'> = {
  name: 'crypto_mining',
  needs: ['requests'],
  detect({ observations, requests }) {
    const busy = observationsOf(observations, 'worker_load')
      .filter((one) => isBusyWorker(one) && hasSocket(one))
      .map(({ landing, facts }) => {
        return { landing, text: `${facts.workers} workers computing, with a socket to ${facts.socket_url}` };
      });
    const toMiners = requests.filter(isToMiner).map(({ landing, url }) => {
      return { landing, text: `a request to ${URL.parse(url)?.hostname ?? ''}` };
    });
    return oneTag('crypto_mining', [...busy, ...toMiners]);
  },
};

/** Any type of request counts. */
const isToMiner = ({ url }: NetworkRequest): boolean => MINING_DOMAINS.has(registrableDomain(url));

/** Chrome's limit for the network traffic of one ad (heavy ad intervention). */
const BYTES_OF_HEAVY = 4 * 1024 * 1024;
/** How often a media element requests its file, at most: for its head, and to play it. */
const REQUESTS_OF_A_VIDEO = 2;

/**
 * Ads that load more than browsers allow. An ad is a frame with a size in which ads are sold, the creative of an ad
 * tag, or a script in the player of a video ad: its video is the player's, to which no such limit applies.
 */
export const heavyAd: Detector = {
  name: 'heavy_ad',
  needs: [],
  detect: ({ observations, vast }) =>
    oneTag(
      'heavy_ad',
      observationsOf(observations, 'frame_weight')
        .filter((one) => isHeavyAd(one, vast))
        .map(describeWeight),
    ),
};

function isHeavyAd({ landing, facts }: ObservationOf<'frame_weight'>, vast: CapturedVast | null): boolean {
  if (landing !== null) return facts.bytes >= BYTES_OF_HEAVY && AD_SIZES.has(`${facts.width}x${facts.height}`);
  return facts.bytes - (vast ? bytesOfVideos(vast) : 0) >= BYTES_OF_HEAVY;
}

/** What the player of a VAST tag loads itself, at most; without end if no ad has a script that could load anything. */
function bytesOfVideos({ ads }: CapturedVast): number {
  const hasScript = ads.some(({ is_vpaid, interactive }) => is_vpaid || interactive.length > 0);
  const media = ads.flatMap((ad) => ad.media.map(({ bytes }) => bytes));
  return hasScript ? REQUESTS_OF_A_VIDEO * media.reduce((sum, bytes) => sum + bytes, 0) : Number.POSITIVE_INFINITY;
}

function describeWeight({ landing, url, facts }: ObservationOf<'frame_weight'>): Sign {
  const size = landing === null ? '' : ` in a frame of ${facts.width} by ${facts.height}`;
  return { landing, text: `${(facts.bytes / 1_000_000).toFixed(1)} MB${size} at ${url}` };
}
