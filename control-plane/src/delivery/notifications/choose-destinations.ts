import type { AlertStatus } from '../../platform/outbox/outbox-entry.ts';
import type { AlertRouting } from '../../scanning/campaigns/alert-routing.ts';
import type { DestinationRecord } from './destination.ts';

/** What is chosen by. */
export type Routed = Pick<
  DestinationRecord,
  '_id' | 'is_active' | 'is_default_target' | 'included_statuses' | 'route_label_key' | 'route_label_values'
>;

/**
 * The destinations that get an alert with these labels in this status. `all`: those of the organization. By label,
 * where the campaign routes so: those with a fitting value; where none fits, those without a `route_label_key`. Pure.
 */
export function chooseDestinations<T extends Routed>(
  { mode, destination_ids, routing_label_key }: AlertRouting,
  all: T[],
  alert: { status: AlertStatus; labels: Record<string, string> },
): T[] {
  if (mode === 'silence') return [];
  const ofMode = all.filter((one) => (mode === 'inherit' ? one.is_default_target : destination_ids.includes(one._id)));
  const active = ofMode.filter((one) => one.is_active);
  return byLabel(active, routing_label_key, alert.labels).filter((one) => one.included_statuses.includes(alert.status));
}

function byLabel<T extends Routed>(chosen: T[], key: string | null, labels: Record<string, string>): T[] {
  if (key === null) return chosen;
  const value = Object.hasOwn(labels, key) ? labels[key]! : null;
  const fitting = chosen.filter(
    (one) => one.route_label_key === key && value !== null && one.route_label_values.includes(value),
  );
  return fitting.length > 0 ? fitting : chosen.filter((one) => one.route_label_key === null);
}
