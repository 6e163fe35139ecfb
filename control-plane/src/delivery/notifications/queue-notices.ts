import { derivedId } from '@adsweep/shared/ids.ts';
import type { AlertRouting } from '../../scanning/campaigns/alert-routing.ts';
import type { AlertFollower } from '../alerts/raise-alerts.ts';
import { chooseDestinations } from './choose-destinations.ts';
import type { DestinationStore } from './destination-store.ts';
import type { NoticeStore } from './notice-store.ts';

/** Alerts of one campaign within this time are one message (decisions 12). */
export const GROUPED_MS = 60_000;

type Parts = {
  destinations: Pick<DestinationStore, 'list' | 'wake'>;
  notices: Pick<NoticeStore, 'add'>;
  readRouting: (organizationId: string, campaignId: string) => Promise<AlertRouting | null>;
  now?: () => Date;
};

/** Queues a notice of each change of an alert for the destinations that get it; once, however often it is called for the same change. */
export function queueNotices({ destinations, notices, readRouting, now = () => new Date() }: Parts): AlertFollower {
  return async ({ _id: alert_id, organization_id, campaign_id, labels }, { status, sequence }) => {
    const routing = await readRouting(organization_id, campaign_id);
    if (!routing || routing.mode === 'silence') return;
    const all = await destinations.list(organization_id);
    for (const { _id: destination_id } of chooseDestinations(routing, all, { status, labels })) {
      const queued_at = now();
      const _id = derivedId(`notice:${alert_id}/${destination_id}`, sequence);
      await notices.add({
        _id,
        organization_id,
        destination_id,
        campaign_id,
        status,
        alert_id,
        queued_at,
        message_id: '',
      });
      // Also for a notice that was there: the process may have ended before this.
      await destinations.wake(organization_id, destination_id, new Date(queued_at.getTime() + GROUPED_MS));
    }
  };
}
