import { behaviors } from './behaviors/index.ts';
import { combine } from './combine.ts';
import type { Evidence } from './evidence.ts';
import type { Finding } from './finding.ts';

/** What evidence shows. Pure: a new rule never needs a new node, and a stored capture can be judged again. */
export function detect(evidence: Evidence): Finding[] {
  return combine(behaviors.flatMap((detector) => detector(evidence)));
}
