import { readFileSync } from 'node:fs';
import { NOT_AD_NETWORKS, NOT_AD_SERVERS } from '@adsweep/shared/ads/ad-companies.ts';
import { networkOf } from '../../control-plane/src/analysis/classification/network-name.ts';
import { type CorpusData, corpusData } from '../../shared/test/support/corpus-data.ts';
import { type Corpus, type CorpusCase, leftOut } from './corpus.ts';

const COMPANIES = corpusData('ad-networks/category-probes.json');
const BIDDERS = corpusData('ad-networks/prebid-bidder-hosts.json');
const LANDING = 'https://landing.example/';
const NAMED = 'a network';

type Company = { entity: string; category: string; domains: string[] };
type Bidder = { bidder: string; hosts: string[]; thirdPartyWeb: { name: string; categories: string[] } | null };

/** Hosts of companies and header bidders: a host of an ad network must be named, and any other host must not. */
export const adNetworks: Corpus = { name: 'ad-networks', open };

async function open() {
  const missing = COMPANIES.skip || BIDDERS.skip;
  if (missing) return leftOut('ad-networks', missing);
  const read = <T>({ path }: CorpusData): T[] => JSON.parse(readFileSync(path, 'utf8'));
  const cases = [...read<Company>(COMPANIES).flatMap(companyCases), ...read<Bidder>(BIDDERS).flatMap(bidderCases)];
  return { cases, close: async () => undefined };
}

function companyCases({ entity, category, domains }: Company): CorpusCase[] {
  const isNetwork = category === 'ad' && !NOT_AD_SERVERS.has(entity);
  return domains.map((domain) => {
    const host = domain.replace(/^\*\./, 'www.');
    const run = async () => [networkAt(host)].filter(Boolean);
    return { subject: `companies_${category}`, name: host, expected: isNetwork ? [entity] : [], run };
  });
}

function bidderCases({ hosts, thirdPartyWeb }: Bidder): CorpusCase[] {
  const { name = '', categories = [] } = thirdPartyWeb ?? {};
  const isExcluded = NOT_AD_SERVERS.has(name) || categories.some((category) => NOT_AD_NETWORKS.has(category));
  return hosts.map((host) => {
    const run = async () => (networkAt(host) === '' ? [] : [NAMED]);
    return { subject: 'header_bidders', name: host, expected: isExcluded ? [] : [NAMED], run };
  });
}

const networkAt = (host: string): string => networkOf([`https://${host}/ad`, LANDING]).network;
