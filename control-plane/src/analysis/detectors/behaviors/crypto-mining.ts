import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { oneTag } from './one-tag.ts';

const BUSY_SHARE = 0.8;
const BUSY_MS = 3_000;
/** Whose only business is, or was, mining in browsers: their scripts and their pools. */
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

/** Pages whose workers compute all the time and talk to a server meanwhile, or that talk to a known pool. */
export const cryptoMining: Detector<'requests'> = { name: 'crypto_mining', needs: ['requests'], detect };

function detect({ observations, requests }: Pick<Evidence, 'observations' | 'requests'>): Finding[] {
  const busy = observationsOf(observations, 'worker_load')
    .filter(({ facts }) => facts.busy_share >= BUSY_SHARE && facts.over_ms >= BUSY_MS)
    .map(({ landing, facts }) => {
      return { landing, text: `${facts.workers} workers computing, with a socket to ${facts.socket_url}` };
    });
  const pools = requests.filter(isToPool).map(({ landing, url }) => ({ landing, text: `a request to ${hostOf(url)}` }));
  return oneTag('crypto_mining', [...busy, ...pools]);
}

const hostOf = (url: string): string => URL.parse(url)?.hostname ?? '';
/** Domains are looked up by host: their kind of request does not matter. */
const isToPool = ({ url }: NetworkRequest): boolean => MINING_DOMAINS.has(registrableDomain(url));
