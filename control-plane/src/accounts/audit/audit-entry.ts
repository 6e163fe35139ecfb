import { newId } from '@adsweep/shared/ids.ts';
import { type Caller, isOperator } from '../../http/caller.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';

/** What can be found in an audit log. */
const AUDIT_ACTIONS = [
  'organization.created',
  'organization.changed',
  'account.changed',
  'labels.replaced',
  'role.created',
  'api_key.created',
  'api_key.revoked',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/**
 * An entry of the audit log, to be written with the change that it tells of: `subjectId` is what was changed, `changes` are the new values,
 * never a secret.
 */
export function auditEntry(
  caller: Caller,
  action: AuditAction,
  subjectId: string,
  changes: Record<string, unknown>,
  now: Date,
): OutboxEntry<'audit'> {
  const actor = { kind: isOperator(caller) ? ('operator' as const) : ('api_key' as const), key_id: caller.keyId };
  return { id: newId(), kind: 'audit', at: now, actor, action, subject_id: subjectId, changes };
}
