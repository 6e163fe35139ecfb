import type { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import type { Platform } from '../../platform/platform.ts';
import type { ReferenceDomain } from '../../reference/reference.ts';
import type { PublicUrls } from '../../scan/scan-links.ts';
import type { CampaignsDomain } from '../../scanning/campaigns.ts';
import type { ScanningDomain } from '../../scanning/scanning.ts';
import type { AlertStore } from '../alerts/alert-store.ts';
import { type DestinationParts, destinationRoutes } from './destination-routes.ts';
import { destinationStore } from './destination-store.ts';
import { type DispatchParts, startDispatching } from './dispatch.ts';
import { noticeStore } from './notice-store.ts';
import { overrideRoutes } from './override-routes.ts';
import { queueNotices } from './queue-notices.ts';
import { messageSender } from './send-message.ts';

/** What notifications need from campaigns and tags. */
export type NotificationsNeeds = Pick<CampaignsDomain['verbs'], 'readRouting' | 'writeRouting' | 'campaignWordsOf'> &
  Pick<ScanningDomain['verbs'], 'pictureForMessage'> &
  Pick<ReferenceDomain['verbs'], 'readTags'> &
  Pick<DestinationParts, 'storedPerDay'>;

export type NotificationsSettings = PublicUrls & {
  /** What may be dialled for clients. */
  egress: EgressPolicy;
  /** Base URL of the Bot API, before `/bot<token>/<method>`. */
  telegramApiUrl: string;
};

/** What notifications use of the platform, and what sends to clients' servers. */
type Parts = Pick<Platform, 'store' | 'secrets' | 'mailer' | 'metrics' | 'logger'> & Pick<GuardedPost, 'post'>;

/** Destinations of alerts, the routing of campaigns, and the messages. */
export function notifications(
  { store, secrets, mailer, metrics, logger, post }: Parts,
  { readRouting, writeRouting, campaignWordsOf, readTags, pictureForMessage, storedPerDay }: NotificationsNeeds,
  alerts: Pick<AlertStore, 'findAll'>,
  { egress, telegramApiUrl, publicUrl, hasConsole }: NotificationsSettings,
) {
  const [destinations, notices] = [destinationStore(store), noticeStore(store)];
  const send = messageSender({ secrets, mailer, post, telegramApiUrl });
  const findUnknown = async (organizationId: string, ids: string[]): Promise<Set<string>> => {
    const known = await destinations.list(organizationId);
    return new Set(ids).difference(new Set(known.map(({ _id }) => _id)));
  };
  const dispatching: DispatchParts = {
    destinations,
    notices,
    send,
    metrics,
    logger,
    compose: {
      notices,
      findAlerts: alerts.findAll,
      urls: { publicUrl, hasConsole },
      pictureOf: pictureForMessage,
      readTags,
      campaignName: async (organizationId, id) => (await campaignWordsOf(organizationId, [id])).get(id)?.name ?? null,
    },
  };
  return {
    stores: { destinations, notices },
    routes: [
      ...destinationRoutes({
        destinations,
        secrets,
        egress,
        send,
        publicUrl,
        storedPerDay,
        hasMailer: mailer !== null,
        resumeNotices: (organization_id, destination_id, now) =>
          notices.resume({ organization_id, destination_id }, now),
        removeNotices: (organization_id, destination_id) => notices.removeAll({ organization_id, destination_id }),
      }),
      ...overrideRoutes({ findUnknown, readRouting, writeRouting }),
    ],
    loops: { dispatcher: () => [startDispatching(dispatching)] },
    follower: queueNotices({ destinations, notices, readRouting }),
    dispatching,
    verbs: { findUnknownDestinations: findUnknown },
  };
}
