import assert from 'node:assert/strict';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { PackedScan } from '../../src/analysis/evidence/packed-scan.ts';
import type { GroupOutcome } from '../../src/analysis/rules/evaluation/run-rules.ts';
import type { Condition, SearchRule } from '../../src/analysis/rules/rule.ts';
import type { RuleTarget } from '../../src/analysis/rules/rule-types/rule-type.ts';
import type { AnalysisThreads } from '../../src/analysis/threads/analysis-threads.ts';
import { captureOf, gzJson, requestOf } from './running-farm.ts';

export const rule = (
  id: string,
  condition: Condition,
  target: RuleTarget = 'page',
  organization_id: string | null = 'ours',
) => ({ id, organization_id, name: id, tag_slug: id, target, ...condition }) as SearchRule;
const expression =
  (rule_type: 'regexp_content' | 'regexp_url' | 'regexp_request_url' | 'regexp_request_body') =>
  (pattern: string, flags: '' | 'i' = ''): Condition => ({ rule_type, config: { pattern, flags } });
export const [onContent, onChain, onRequests, onBodies] = [
  expression('regexp_content'),
  expression('regexp_url'),
  expression('regexp_request_url'),
  expression('regexp_request_body'),
];
export const words = (rule_type: 'stopword_content' | 'stopword_url', ...contains: string[]): Condition => ({
  rule_type,
  config: { contains },
});
export const domains = (...names: string[]): Condition => ({
  rule_type: 'blacklist_domain',
  config: { domains: names },
});

const CHAIN = ['https://www.start.example/?utm=1', 'https://t.tracker.example/c', 'https://shop.example/landing'];
export type Seen = {
  chain?: string[];
  requests?: Partial<NetworkRequest>[];
  text?: string;
  html?: string;
  bodies?: object[];
  ignore?: number;
};

export function evidence({
  chain = CHAIN,
  requests = [],
  text = '',
  html = '',
  bodies = [],
  ignore = 0,
}: Seen = {}): PackedScan {
  const document = { landing: 0, frame: '', url: chain.at(-1)!, title: 'A page', text, html };
  const all = requests.map((request, id) => requestOf(id, request));
  return {
    scan: { organization_id: 'organization', ignore_first_n_domains: ignore, referrer: null },
    capture: gzJson(captureOf(chain)),
    parts: {
      ...{ requests: gzJson(all), documents: gzJson([document]), bodies: gzJson(bodies) },
      ...{ vastDocuments: null, creativeHtml: null },
    },
    lost: [],
    unpackedBytesMax: 1e8,
  };
}

/** Rules that search evidence in these threads. */
export function searchIn(threads: AnalysisThreads) {
  /** The outcomes of groups of rules that share a budget, in ms of CPU. */
  async function search(seen: PackedScan, groups: SearchRule[][], budgetMs = 5_000): Promise<GroupOutcome[]> {
    const written = groups.map((group) => JSON.stringify(group));
    const analysis = await threads.analyse(seen, { groups: written, budgetMs, shared: true });
    assert.ok(Array.isArray(analysis.search));
    return analysis.search;
  }

  /** What these rules find: `rule place url`. */
  async function found(seen: Seen, ...rules: SearchRule[]): Promise<string[]> {
    const [outcome] = await search(evidence(seen), [rules]);
    assert.deepEqual(outcome!.finished.toSorted(), rules.map(({ id }) => id).toSorted());
    return outcome!.matches.map(({ rule_id, place, url }) => `${rule_id} ${place} ${url}`);
  }

  return { search, found };
}
