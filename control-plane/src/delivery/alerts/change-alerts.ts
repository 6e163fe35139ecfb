import { refused } from '../../http/api-error.ts';
import { mayChange } from './alert.ts';
import type { SentFilter } from './alert-query.ts';
import type { AlertStore, StatusWrite } from './alert-store.ts';

/** Alerts that one call changes at most. */
const CHANGED_MAX = 10_000;
const READ_AT_ONCE = 100;

/**
 * `updated`: alerts that were changed; `skipped`: those that have the status or cannot get it; `remaining`: further
 * ones that can.
 */
export type BulkResult = { updated: number; skipped: number; remaining: number };

/**
 * Changes the status of an alert; the same status again changes nothing. null: there is none. Throws 422 if the change
 * is not allowed.
 */
export async function changeAlert(
  alerts: Pick<AlertStore, 'find' | 'change'>,
  organizationId: string,
  id: string,
  write: StatusWrite,
): Promise<true | null> {
  for (;;) {
    const alert = await alerts.find(organizationId, id);
    if (!alert) return null;
    if (alert.status === write.status) return true;
    if (!mayChange(alert.status, write.status)) {
      const msg = `An alert that is ${alert.status} cannot become ${write.status}.`;
      throw refused([{ loc: ['body', 'status'], msg, type: 'transition_not_allowed', ctx: { given: write.status } }]);
    }
    if (await alerts.change(alert, write)) return true;
  }
}

/** Changes the alerts with these ids. Those that are missing, or another organization's, are skipped. */
export async function changeNamed(
  alerts: Pick<AlertStore, 'findAll' | 'changeAll'>,
  organizationId: string,
  ids: string[],
  write: StatusWrite,
): Promise<BulkResult> {
  const found = await alerts.findAll(organizationId, ids);
  const updated = await alerts.changeAll(
    found.filter(({ status }) => mayChange(status, write.status)),
    write,
  );
  return { updated, skipped: new Set(ids).size - updated, remaining: 0 };
}

/** Changes the alerts that match, the oldest first, up to a bound. */
export async function changeMatching(
  alerts: Pick<AlertStore, 'count' | 'oldest' | 'changeAll'>,
  organizationId: string,
  { statuses, ...filter }: SentFilter,
  write: StatusWrite,
  most = CHANGED_MAX,
): Promise<BulkResult> {
  const from = statuses.filter((status) => mayChange(status, write.status));
  const others = statuses.filter((status) => !from.includes(status));
  const skipped = await alerts.count(organizationId, filter, others);
  let updated = 0;
  // What was changed matches no longer, so that each turn reads the next ones.
  for (let turn = 0; turn < most / READ_AT_ONCE && from.length > 0; turn += 1) {
    const next = await alerts.oldest(organizationId, filter, from, READ_AT_ONCE);
    if (next.length === 0) break;
    updated += await alerts.changeAll(next, write);
  }
  return { updated, skipped, remaining: await alerts.count(organizationId, filter, from) };
}
