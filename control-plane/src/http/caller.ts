import type { Permission } from './permissions.ts';

/** The caller of a request: every query of a store names this organization first. */
export type Caller = {
  organizationId: string;
  keyId: string;
  permissions: ReadonlySet<Permission>;
  /** When the key stops working; null: when it is revoked. */
  expiresAt: Date | null;
};

/** Whether this is the operator's key, which alone may manage organizations and what belongs to all of them. */
export const isOperator = ({ permissions }: Caller): boolean => permissions.has('organizations.manage');
