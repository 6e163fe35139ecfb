import type { Evidence, Need } from './evidence.ts';
import type { Finding } from './finding.ts';

/** Evidence that every detector gets. */
type Given = Exclude<keyof Evidence, Need>;

/**
 * Looks at evidence and says what it found. Pure: a new detector never needs a new node, and a stored capture can be judged again.
 * What it `needs` beside landings and observations is loaded for it; it cannot look at anything else.
 */
export type Detector<N extends Need = never> = {
  /** What the scan says of a detector that failed. */
  name: string;
  needs: readonly N[];
  detect(evidence: Pick<Evidence, Given | N>): Finding[];
};
