import type { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { guardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CampaignsDomain } from '../../scanning/campaigns.ts';
import { destinationRoutes } from './destination-routes.ts';
import { destinationStore } from './destination-store.ts';
import { overrideRoutes } from './override-routes.ts';
import { messageSender } from './send-message.ts';

/** What notifications need from campaigns. */
export type NotificationsNeeds = Pick<CampaignsDomain['verbs'], 'readRouting' | 'writeRouting'>;

export type NotificationsSettings = {
  /** What may be dialled for clients. */
  egress: EgressPolicy;
  /** What stands before `/bot<token>/<method>`. */
  telegramApiUrl: string;
  publicUrl: string;
};

/** Destinations of alerts, the routing of campaigns, and the messages. */
export function notifications(
  { store, secrets, mailer }: Pick<Platform, 'store' | 'secrets' | 'mailer'>,
  { readRouting, writeRouting }: NotificationsNeeds,
  { egress, telegramApiUrl, publicUrl }: NotificationsSettings,
) {
  const destinations = destinationStore(store);
  const guarded = guardedPost(egress);
  const send = messageSender({ secrets, mailer, post: guarded.post, telegramApiUrl });
  const findUnknown = async (organizationId: string, ids: string[]): Promise<Set<string>> => {
    const known = await destinations.list(organizationId);
    return new Set(ids).difference(new Set(known.map(({ _id }) => _id)));
  };
  return {
    stores: { destinations },
    routes: [
      ...destinationRoutes({
        ...{ destinations, secrets, egress, send, publicUrl, hasMailer: mailer !== null },
        removeNotices: async () => {},
        wake: () => {},
      }),
      ...overrideRoutes({ findUnknown, readRouting, writeRouting }),
    ],
    verbs: { findUnknownDestinations: findUnknown },
  };
}
