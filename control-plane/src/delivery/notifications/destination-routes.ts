import type { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { Type } from 'typebox';
import type { StoredPerDay } from '../../accounts/stored-per-day.ts';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { ok, type Route, route } from '../../http/route.ts';
import type { Secrets } from '../../platform/secrets.ts';
import type { AlertMessage } from './alert-message.ts';
import {
  changedFields,
  changeIssues,
  connectionOf,
  newDestinationIssues,
  presentDestination,
  settingsOf,
  startsAnew,
} from './change-destination.ts';
import { type DestinationRecord, newDestination } from './destination.ts';
import {
  DestinationInSchema,
  DestinationPatchSchema,
  DestinationSchema,
  DestinationTestSchema,
  VersionInSchema,
} from './destination-schemas.ts';
import type { DestinationStore } from './destination-store.ts';
import type { SendMessage } from './send-message.ts';

export type DestinationParts = {
  destinations: DestinationStore;
  /** Removes what waits for a destination that was deleted. */
  removeNotices: (organizationId: string, destinationId: string) => Promise<void>;
  /** Makes what waits for a destination due. */
  resumeNotices: (organizationId: string, destinationId: string, now: Date) => Promise<void>;
  secrets: Secrets;
  egress: EgressPolicy;
  hasMailer: boolean;
  send: SendMessage;
  publicUrl: string;
  /** `take` throws 429 where the organization may send no more test messages today. */
  storedPerDay: Pick<StoredPerDay, 'take'>;
};

const [group, permission] = ['Alert notifications', 'alert_notifications.manage'] as const;
const path = '/api/v1/alert-notifications/destinations';

/** Operations on destinations. */
export function destinationRoutes(parts: DestinationParts): Route<Caller>[] {
  const { destinations, secrets, egress, hasMailer } = parts;
  const all = resource<DestinationRecord>({
    group,
    path,
    permission,
    noun: 'destination',
    schema: DestinationSchema,
    id: { name: 'destination_id', description: 'The destination.' },
    presenter: () => presentDestination,
  });
  return [
    all.list({
      summary: 'List destinations of alerts',
      reply: 'Your destinations, the oldest first.',
      rows: ({ organizationId }) => destinations.list(organizationId),
    }),
    all.create({
      summary: 'Create a destination',
      description:
        'Exactly one of `slack`, `telegram` and `email`: that of its channel. What connects it is never returned.',
      body: DestinationInSchema,
      reply: 'The destination.',
      errors: ['notifications.mail_not_configured', 'notifications.too_many_destinations'],
      refine: ({ body, refused }) => (refused ? newDestinationIssues(body, { egress, hasMailer, refused }) : []),
      create: async ({ organizationId, id, body, now }) => {
        const earlier = await destinations.find(organizationId, id);
        if (earlier) return earlier;
        const identity = { _id: id, organization_id: organizationId, channel: body.channel };
        const destination = newDestination(identity, settingsOf(body), connectionOf(body, id, secrets), now);
        await destinations.insertWithin(destination);
        return destination;
      },
    }),
    all.read({
      summary: 'Read a destination',
      reply: 'The destination.',
      find: ({ organizationId, id }) => destinations.find(organizationId, id),
    }),
    all.change({
      summary: 'Change a destination',
      description:
        'Omitted fields keep their values; the channel cannot change. Another connection starts the destination anew, unless it is paused.',
      body: DestinationPatchSchema,
      reply: 'The destination.',
      refine: async ({ caller, params, body, refused }) => {
        const found = refused && (await destinations.find(caller.organizationId, params.destination_id!));
        return found ? changeIssues(found, body, { egress, refused }) : [];
      },
      change: async ({ organizationId, id, body, now }) => {
        const found = await destinations.find(organizationId, id);
        const isAnew = found !== null && startsAnew(found, body);
        if (isAnew) await parts.resumeNotices(organizationId, id, now);
        const changed = changedFields(isAnew ? { ...body, is_active: true } : body, id, secrets);
        return destinations.change(organizationId, id, { ...changed, updated_at: now }, isAnew ? { now } : null);
      },
    }),
    all.command({
      method: 'PATCH',
      below: 'version',
      summary: 'Change which report a destination links to',
      body: VersionInSchema,
      reply: 'Changed.',
      run: ({ organizationId, id, body, now }) =>
        destinations.change(organizationId, id, { version: body.version, updated_at: now }, null),
    }),
    all.command({
      method: 'DELETE',
      summary: 'Delete a destination',
      description: 'It leaves the overrides of all campaigns. What waits for it is not sent.',
      reply: 'Deleted.',
      run: async ({ organizationId, id }) => {
        if (!(await destinations.delete(organizationId, id))) return null;
        await parts.removeNotices(organizationId, id);
      },
    }),
    testRoute(parts),
  ];
}

function testRoute({ destinations, send, publicUrl, storedPerDay }: DestinationParts): Route<Caller> {
  return route({
    method: 'POST',
    path: `${path}/{destination_id}/test`,
    group,
    summary: 'Try a destination',
    description:
      'Sends a test message at once, also to a paused destination. It counts neither as a success nor as a failure.',
    permission,
    params: Type.Object({ destination_id: Type.String({ description: 'The destination.' }) }),
    replies: { 200: { description: 'Whether it arrived.', schema: DestinationTestSchema } },
    errors: ['not_found', 'storage.quota_exhausted'],
    handle: async ({ caller: { organizationId }, params }) => {
      const found = await destinations.find(organizationId, params.destination_id);
      if (!found) throw notFound('destination');
      await storedPerDay.take(organizationId, 'tests', 1);
      const outcome = await send(found, testMessage(publicUrl));
      return ok({ success: outcome.sent, status: outcome.status, error: outcome.sent ? null : outcome.reason });
    },
  });
}

const testMessage = (publicUrl: string): AlertMessage => ({
  campaign: 'Adsweep test',
  status: 'open',
  count: 1,
  picture: null,
  note: 'This is a test. No alert was raised, and there is nothing to do.',
  lines: [
    {
      tag: 'Example tag',
      severity: 'low',
      country: 'US',
      device: 'windows_chrome',
      labels: [],
      target: 'https://shop.example/landing',
      landing: 'https://shop.example/landing',
      link: publicUrl,
      now: '',
    },
  ],
});
