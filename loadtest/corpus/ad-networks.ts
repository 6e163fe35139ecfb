import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  NOT_AD_NETWORKS,
  NOT_AD_SERVERS,
  networkOf,
} from '../../control-plane/src/analysis/classification/network-name.ts';
import type { Corpus, CorpusCase } from './corpus.ts';

const DATA = join(import.meta.dirname, '../../../shared/data/ad-networks');
const LANDING = 'https://landing.example/';
const NAMED = 'a network';

type Company = { entity: string; category: string; domains: string[] };
type Bidder = { bidder: string; hosts: string[]; thirdPartyWeb: { name: string; categories: string[] } | null };

/** Hosts of companies and of header bidders: those of ad networks have a name, those of everyone else have none. */
export const adNetworks: Corpus = { name: 'ad-networks', open };

async function open() {
  if (!existsSync(DATA)) {
    console.log(`ad-networks: skipped, there is no ${DATA}`);
    return null;
  }
  const read = <T>(file: string): T[] => JSON.parse(readFileSync(join(DATA, file), 'utf8'));
  const cases = [
    ...read<Company>('category-probes.json').flatMap(companyCases),
    ...read<Bidder>('prebid-bidder-hosts.json').flatMap(bidderCases),
  ];
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
