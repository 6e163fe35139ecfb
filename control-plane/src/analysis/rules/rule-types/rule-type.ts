import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { TSchema } from 'typebox';
import type { RuleTarget } from '../rule.ts';

/**
 * How rules of a type are written: the schema of their configuration, and what they may look at. `issues` finds what a schema cannot
 * say of a configuration that it takes; paths begin within the configuration.
 */
export type RuleTypeForm = {
  config: TSchema;
  targets: readonly RuleTarget[];
  issues?(config: never): Issue[];
};
