import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ReadTags } from '../../reference/tags/tag-definitions.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { combine } from '../detectors/combine.ts';
import type { Finding } from '../detectors/finding.ts';
import { matchCombos, rulesInService, searchTexts } from './evaluation/evaluate-rules.ts';
import type { RunRules } from './evaluation/rule-job.ts';
import { type PackedSources, packEvidence } from './packed-evidence.ts';
import { isModelRule, type Rule, type RuleRecord, ruleOf } from './rule.ts';

export type JudgeParts = PackedSources & {
  readRules: (organizationId: string) => Promise<RuleRecord[]>;
  readTags: ReadTags;
  threads: { run: RunRules };
  /** What the rules of one scan may cost together, in ms of CPU. */
  budgetMs: number;
  logger: Logger;
};

/**
 * Judges a scan by the rules of the platform and of its organization. `found` is what detectors found, and `links` are its links: combos
 * look at both.
 */
export type JudgeByRules = (
  scan: ScanRecord,
  found: Finding[],
  links: string[],
) => Promise<{ findings: Finding[]; missing: string[] }>;

/** Names of rules that a scan tells; of more it tells how many. */
const NAMES_MAX = 5;
const SKIPPED = 'rules skipped, the time budget was spent';
const UNREADABLE = 'rules that could not be read';

export function judgeByRules(parts: JudgeParts): JudgeByRules {
  return async (scan, found, links) => {
    const { organization_id } = scan;
    const [records, tags] = await Promise.all([parts.readRules(organization_id), parts.readTags(organization_id)]);
    const active = records.filter(({ is_active }) => is_active).map(ruleOf);
    const rules = rulesInService(active, tags).filter((rule) => !isModelRule(rule));
    if (rules.length === 0) return { findings: [], missing: [] };
    const evidence = await packEvidence(parts, scan, rules);
    if (!evidence) return { findings: [], missing: [] };
    try {
      const { findings, skipped, unreadable } = await searchTexts(parts.threads, rules, evidence, parts.budgetMs);
      const combos = matchCombos(rules, combine([...found, ...findings]), tags, links);
      return {
        findings: [...findings, ...combos],
        missing: [...named(SKIPPED, skipped), ...named(UNREADABLE, unreadable)],
      };
    } catch (cause) {
      parts.logger.error({ scan_id: scan._id, cause }, 'the rules of a scan could not be run');
      return { findings: [], missing: ['rules'] };
    }
  };
}

function named(what: string, rules: Rule[]): string[] {
  if (rules.length === 0) return [];
  const names = rules.slice(0, NAMES_MAX).map(({ name }) => `"${name}"`);
  const more = rules.length > names.length ? [`${rules.length - names.length} more`] : [];
  return [`${what}: ${[...names, ...more].join(' ')}`];
}
