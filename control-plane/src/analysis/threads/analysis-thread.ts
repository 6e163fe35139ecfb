import { parentPort } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { type Evidence, NO_EVIDENCE, withoutFirstDomains } from '../evidence/evidence.ts';
import { unpackScan } from '../evidence/packed-scan.ts';
import type { PackedEvidence, RuleJob } from '../rules/evaluation/rule-job.ts';
import { type CompiledRules, compileRules, type RuleResults, runRules } from '../rules/evaluation/run-rules.ts';
import type { SearchRule } from '../rules/rule.ts';
import { Budget } from '../rules/search/budget.ts';
import { expressionProblem } from '../rules/search/expression.ts';
import { type SearchedEvidence, textsOf } from '../rules/search/texts.ts';
import { inspect } from './inspect.ts';
import type { ThreadMessage, ThreadRequest } from './messages.ts';

/** Compiled groups that are kept, the last ones used. */
const COMPILED_MAX = 16;

const compiled = new Map<string, CompiledRules>();
const say = (message: ThreadMessage): void => parentPort!.postMessage(message);

parentPort!.on('message', (request: ThreadRequest) => {
  try {
    if ('patterns' in request) say({ problems: request.patterns.map(expressionProblem) });
    else if ('inspected' in request)
      say({ inspection: inspect(unpackScan(request.inspected), request.inspected.scan) });
    else runJob(request.job);
  } catch (error) {
    say({ failed: String(error) });
  }
});

function runJob({ evidence, groups, budgetMs, shared }: RuleJob): void {
  const texts = textsOf(unpack(evidence));
  const rules = groups.map(compiledOf);
  const ofAll = new Budget(budgetMs);
  rules.forEach((group, at) => {
    say({ began: at });
    const budget = shared ? ofAll : new Budget(budgetMs);
    const began = budget.now();
    const report = ({ matches, finished }: RuleResults) => {
      const elapsed_ms = Math.ceil(budget.now() - began);
      say({ group: at, result: { matches, finished: [...finished], unreadable: group.unreadable, elapsed_ms } });
    };
    report(runRules(group, texts, budget, report));
  });
  say({ done: true });
}

function unpack(evidence: PackedEvidence): SearchedEvidence {
  const { landings, creative, creative_html, requests, ignore_first_n_domains, packed, unpackedBytesMax } = evidence;
  const read = <T>(bytes: Uint8Array | null): T[] | null =>
    bytes && JSON.parse(gunzipSync(bytes, { maxOutputLength: unpackedBytesMax }).toString());
  const unpacked: Evidence = {
    ...NO_EVIDENCE,
    landings,
    creative,
    requests: read(packed.requests) ?? requests,
    documents: read(packed.documents) ?? [],
    bodies: read(packed.bodies) ?? [],
  };
  const markup = creative_html ? Buffer.from(creative_html).toString() : '';
  return { ...withoutFirstDomains(unpacked, ignore_first_n_domains), creative_html: markup };
}

function compiledOf(group: string): CompiledRules {
  const rules = compiled.get(group) ?? compileRules(JSON.parse(group) as SearchRule[]);
  // The one used last stands last.
  compiled.delete(group);
  compiled.set(group, rules);
  if (compiled.size > COMPILED_MAX) compiled.delete(compiled.keys().next().value!);
  return rules;
}
