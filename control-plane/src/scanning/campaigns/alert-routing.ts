import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { orNull } from '../../http/route.ts';
import { issueAt } from '../scans/request/checks/check.ts';

export const ROUTING_MODES = ['inherit', 'override', 'silence'] as const;

/**
 * Which destinations get the alerts of a campaign. `destination_ids`: of `override`; those that were deleted since
 * count for nothing.
 */
export type AlertRouting = {
  mode: (typeof ROUTING_MODES)[number];
  destination_ids: string[];
  routing_label_key: string | null;
};

/** The routing of a campaign that has set none. */
export const INHERITED: Readonly<AlertRouting> = { mode: 'inherit', destination_ids: [], routing_label_key: null };

const DESTINATION_IDS_MAX = 50;
const LABEL_KEY_MAX = 64;

/** Body of `PUT .../overrides`, and `notifications` of a campaign: replaces the routing as a whole. */
export const AlertRoutingInSchema = Type.Object(
  {
    mode: Type.Enum([...ROUTING_MODES], {
      description:
        '`inherit`: all active destinations with `is_default_target`. `override`: those in `destination_ids`; an empty list is nobody. `silence`: nobody.',
    }),
    destination_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: DESTINATION_IDS_MAX,
        description: 'Only with `override`.',
      }),
    ),
    routing_label_key: Type.Optional(
      orNull(
        Type.String({
          minLength: 1,
          maxLength: LABEL_KEY_MAX,
          description:
            "Not with `silence`. Of the destinations, those whose `route_label_key` is this and whose `route_label_values` have the scan's value; if there are none, those without a `route_label_key`.",
        }),
      ),
    ),
  },
  { additionalProperties: false, title: 'AlertRoutingIn' },
);
export type AlertRoutingIn = Static<typeof AlertRoutingInSchema>;

/** The ids that are none of the organization's destinations. */
export type FindUnknownDestinations = (organizationId: string, ids: string[]) => Promise<Set<string>>;

/** The problems of a routing whose form was checked. `at`: where in the body it is. */
export async function routingIssues(
  findUnknown: FindUnknownDestinations,
  organizationId: string,
  { mode, destination_ids: ids = [], routing_label_key: key }: Partial<AlertRoutingIn>,
  at: string[],
): Promise<Issue[]> {
  if (mode === undefined) return [];
  if (mode !== 'override' && ids.length > 0) {
    const msg = 'Can only be sent with the mode override.';
    return [issueAt([...at, 'destination_ids'], 'invalid_override_combination', msg, ids)];
  }
  const unknown = ids.length > 0 ? await findUnknown(organizationId, [...new Set(ids)]) : new Set<string>();
  return [
    ...ids.flatMap((id, index) =>
      unknown.has(id)
        ? [issueAt([...at, 'destination_ids', index] as string[], 'not_found', 'There is no such destination.', id)]
        : [],
    ),
    ...(mode === 'silence' && typeof key === 'string'
      ? [
          issueAt(
            [...at, 'routing_label_key'],
            'invalid_label_routing_combination',
            'Cannot be sent with the mode silence.',
            key,
          ),
        ]
      : []),
  ];
}

/** A routing that passed its checks, in the form in which it is stored. */
export const routingOf = ({ mode, destination_ids = [], routing_label_key }: AlertRoutingIn): AlertRouting => ({
  mode,
  destination_ids: [...new Set(destination_ids)],
  routing_label_key: routing_label_key ?? null,
});
