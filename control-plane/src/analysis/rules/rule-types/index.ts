import type { RuleType } from '../rule.ts';
import { combo } from './combo.ts';
import { domains } from './domains.ts';
import { expressions, requestExpressions } from './expressions.ts';
import { llm } from './llm.ts';
import type { RuleTypeForm } from './rule-type.ts';
import { words } from './words.ts';

/** How each type of rule is written. */
export const RULE_FORMS: Record<RuleType, RuleTypeForm> = {
  stopword_content: words,
  stopword_url: words,
  regexp_content: expressions,
  regexp_url: expressions,
  regexp_request_url: requestExpressions,
  regexp_request_body: requestExpressions,
  blacklist_domain: domains,
  combo,
  llm,
};
