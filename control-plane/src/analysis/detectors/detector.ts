import type { Evidence, Need } from '../evidence/evidence.ts';
import type { Finding } from './finding.ts';

/** Evidence that every detector gets. */
type Given = Exclude<keyof Evidence, Need>;

/**
 * Finds something in evidence. Pure: a new detector never needs a new browser node, and a stored capture can be analysed again.
 * The evidence that it `needs` beside landings and observations is loaded for it; it cannot see anything else.
 */
export type Detector<N extends Need = never> = {
  /** How a scan's `error` names a detector that failed. */
  name: string;
  needs: readonly N[];
  detect(evidence: Pick<Evidence, Given | N>): Finding[];
};
