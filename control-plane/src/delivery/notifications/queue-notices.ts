import { derivedId } from '@adsweep/shared/ids.ts';
import type { AlertRouting } from '../../scanning/campaigns/alert-routing.ts';
import type { AlertFollower } from '../alerts/raise-alerts.ts';
import { chooseDestinations } from './choose-destinations.ts';
import type { DestinationStore } from './destination-store.ts';
import type { NoticeStore } from './notice-store.ts';

/** Alerts of one campaign within this time are one message (decisions 12). */
export const GROUPED_MS = 60_000;

type Parts = {
  destinations: Pick<DestinationStore, 'routed' | 'wake'>;
  notices: Pick<NoticeStore, 'add'>;
  readRouting: (organizationId: string, campaignId: string) => Promise<AlertRouting | null>;
  now?: () => Date;
};

/**
 * Queues a notice of each change of an alert for the destinations that get it; once, however often it is called for the
 * same change.
 */
export function queueNotices({ destinations, notices, readRouting, now = () => new Date() }: Parts): AlertFollower {
  return async ({ _id: alert_id, organization_id, campaign_id, labels }, { status, sequence }) => {
    const routing = await readRouting(organization_id, campaign_id);
    if (!routing || routing.mode === 'silence') return;
    const all = await destinations.routed(organization_id);
    const ids = chooseDestinations(routing, all, { status, labels }).map(({ _id }) => _id);
    if (ids.length === 0) return;
    const queued_at = now();
    await notices.add(
      ids.map((destination_id) => ({
        _id: derivedId(`notice:${alert_id}/${destination_id}`, sequence),
        organization_id,
        destination_id,
        campaign_id,
        status,
        alert_id,
        queued_at,
        message_id: '',
      })),
    );
    // Also for notices that were there: the process may have ended before this.
    await destinations.wake(organization_id, ids, new Date(queued_at.getTime() + GROUPED_MS));
  };
}
