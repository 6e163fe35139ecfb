import { readFileSync } from 'node:fs';
import { compileExpression } from '../../control-plane/src/analysis/rules/search/expression.ts';
import { ExpressionSet } from '../../control-plane/src/analysis/rules/search/expression-set.ts';
import { corpusData } from '../../shared/test/support/corpus-data.ts';
import { type Corpus, type CorpusCase, leftOut } from './corpus.ts';

const REQUESTS = corpusData('ad-networks/adblock-rust-requests.json');

/** A request and the filters of public lists that match it. */
type Request = { url: string; filters: string[] };

/**
 * Requests of ads and trackers with the filters that match them. Each filter, converted to an expression, must find its request in one search for
 * all of them; a filter for a domain must not find another domain with the same ending. The file does not say which network a request belongs to,
 * nor which page a filter is for.
 */
export const adRequests: Corpus = { name: 'ad-requests', open };

async function open() {
  if (REQUESTS.skip) return leftOut('ad-requests', REQUESTS.skip);
  const requests: Request[] = JSON.parse(readFileSync(REQUESTS.path, 'utf8'));
  const filters = [...new Set(requests.flatMap((request) => request.filters))];
  const members = filters.map((filter) => {
    const config = { pattern: patternOf(filter), flags: 'i' as const };
    return { config, expression: compileExpression(config.pattern, config.flags) };
  });
  const set = new ExpressionSet(members);
  const find = (url: string) => new Set(set.match(url).map((at) => filters[at]!));
  const cases = [
    ...requests.map((request, at) => requestCase(request, at, find)),
    ...filters.flatMap((filter) => otherDomainCase(filter, find)),
  ];
  return { cases, close: async () => undefined };
}

function requestCase({ url, filters }: Request, at: number, find: (url: string) => Set<string>): CorpusCase {
  const run = async () => {
    const found = find(url);
    return filters.filter((filter) => found.has(filter));
  };
  return { subject: 'ad_requests', name: `${at}`, expected: filters, run };
}

function otherDomainCase(filter: string, find: (url: string) => Set<string>): CorpusCase[] {
  const [, host] = /^\|\|([a-z0-9.-]+)\^$/.exec(filter) ?? [];
  if (!host) return [];
  const run = async () => [...find(`https://other-${host}/`)].filter((one) => one === filter);
  return [{ subject: 'ad_request_domains', name: host, expected: [], run }];
}

/** A filter in the syntax of Adblock Plus, without its options, as an expression. */
function patternOf(filter: string): string {
  const text = filter.replace(/^@@/, '').replace(/\$[^$]*$/, '');
  const body = text
    .replace(/^\|\|?/, '')
    .replace(/\|$/, '')
    .replaceAll(/[\\.+?()[\]{}|$]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('^', '(?:[^a-zA-Z0-9_.%-]|$)');
  const start = text.startsWith('||') ? '^[a-z-]+://(?:[^/?#]*\\.)?' : text.startsWith('|') ? '^' : '';
  return `${start}${body}${text.endsWith('|') ? '$' : ''}`;
}
