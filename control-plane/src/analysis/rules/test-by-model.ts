import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { NO_EVIDENCE, withoutFirstDomains } from '../evidence/evidence.ts';
import type { AskModel } from '../model/question.ts';
import type { ShowModel } from '../model/show-model.ts';
import type { PackedEvidence } from './evaluation/rule-job.ts';
import type { ModelRule } from './rule.ts';
import { type CellError, NO_MATCH, type TestResult } from './rule-test-in.ts';
import { RULE_TYPES } from './rule-types/index.ts';

/** The model that AI rules are tried on; null: there is none. */
export type TestModel = { ask: AskModel; show: ShowModel } | null;

/** What AI rules would do to a scan, asked together for the tags that they are `offered`; `signal` ends what is not answered by then. */
export async function testByModel(
  model: TestModel,
  scan: ScanRecord,
  { rules, offered }: { rules: ModelRule[]; offered: (rule: ModelRule) => string[] },
  evidence: PackedEvidence,
  signal: AbortSignal,
): Promise<(TestResult | CellError)[]> {
  if (!model || rules.length === 0) return rules.map(() => 'llm_failed' as const);
  const { landings, creative, ignore_first_n_domains: count } = evidence;
  const captured = { ...NO_EVIDENCE, landings, creative, documents: await documentsOf(evidence) };
  const shown = await model.show(scan, withoutFirstDomains(captured, count));
  return Promise.all(
    rules.map(async (rule) => {
      const began = performance.now();
      try {
        const verdict = await RULE_TYPES[rule.rule_type].match(model.ask, rule, offered(rule), shown, signal);
        if (verdict.outcome !== 'answered') return verdict.outcome === 'refused' ? 'content_prohibited' : 'llm_failed';
        const tags = verdict.answer.map(({ tag_slug, detail }) => ({ tag_slug, detail }));
        return { ...NO_MATCH, matched: tags.length > 0, tags, elapsed_ms: Math.ceil(performance.now() - began) };
      } catch {
        return signal.aborted ? 'deadline_exceeded' : 'failed';
      }
    }),
  );
}

async function documentsOf({ packed, unpackedBytesMax }: PackedEvidence): Promise<CapturedDocument[]> {
  if (!packed.documents) return [];
  const text = await promisify(gunzip)(packed.documents, { maxOutputLength: unpackedBytesMax });
  return JSON.parse(text.toString());
}
