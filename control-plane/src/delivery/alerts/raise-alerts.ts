import type { OutboxHandlers } from '../../platform/outbox/outbox-entry.ts';
import { type AlertRecord, newAlerts } from './alert.ts';
import type { AlertStore } from './alert-store.ts';

/**
 * Called when an alert was raised or its status changed, at least once for each change and in their order; `change` is
 * what the outbox entry says, `alert` is the alert as it is now. A follower that throws is called again later, so that
 * it must be idempotent by the alert's id and `change.sequence`.
 */
export type AlertFollower = (
  alert: AlertRecord,
  change: { status: AlertRecord['status']; sequence: number; at: Date },
) => Promise<void>;

/** The outbox handlers of alerts: those of scans raise them, those of alerts call what follows their changes. */
export function alertHandlers(
  alerts: Pick<AlertStore, 'add' | 'find'>,
  followers: AlertFollower[],
  filled: () => void,
) {
  return {
    alerts: async (entry, origin) => {
      await alerts.add(newAlerts(entry, origin));
      filled();
    },
    'alert.changed': async ({ alert_id, status, sequence, at }, { organizationId }) => {
      const alert = await alerts.find(organizationId, alert_id);
      if (!alert) throw new Error(`the alert ${alert_id} of an outbox entry does not exist`);
      for (const follow of followers) await follow(alert, { status, sequence, at });
    },
  } satisfies Partial<OutboxHandlers>;
}
