import { type Static, Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { moment, ok, type Route, route } from '../../http/route.ts';
import type { DecisionRecord, DecisionStore } from './decision-store.ts';

const Count = Type.Integer({ minimum: 0 });

const ScalingDecisionSchema = Type.Object(
  {
    at: moment(),
    dry_run: Type.Boolean({ description: 'The actions were only decided, not carried out.' }),
    desired_nodes: Type.Integer({ minimum: 0, description: 'Nodes that the work needed at that time.' }),
    target_nodes: Type.Integer({
      minimum: 0,
      description: 'Nodes that there were to be: the most that were desired during the cool-down, within the limits.',
    }),
    nodes: Type.Record(Type.String(), Count, {
      description: "The scaler's nodes by state, and as `others` working nodes that it has not created.",
    }),
    actions: Type.Array(
      Type.Object({
        action: Type.Enum(['start', 'drain', 'stop', 'remove']),
        host: Type.String(),
        node: Type.String(),
        reason: Type.String(),
      }),
    ),
    held: Type.Array(Type.String(), { description: 'What should be done and cannot be at the moment.' }),
    failed: Type.Array(Type.String(), { description: 'Actions that a Docker engine refused, with its answer.' }),
  },
  { title: 'ScalingDecision' },
);

/** The operation that lists the decisions of the scaler. */
export function decisionRoutes(decisions: Pick<DecisionStore, 'page'>): Route<Caller>[] {
  return [
    route({
      method: 'GET',
      group: 'Fleet',
      permission: 'fleet.read',
      path: '/api/v1/fleet/decisions',
      summary: 'Decisions of the scaler',
      description:
        'Those of the last 30 days that did something, or could not; empty while `ADSWEEP_SCALER` is `off`. A decision that repeats the last one is not listed again.',
      query: Type.Object(pageQuery, { additionalProperties: false }),
      replies: {
        200: { description: 'A page of decisions, newest first.', schema: pageSchema(ScalingDecisionSchema) },
      },
      handle: async ({ query }) => {
        const { items, total } = await decisions.page(rowsOf(query));
        return ok(presentPage(items.map(presentDecision), total, query));
      },
    }),
  ];
}

function presentDecision({ _id, at, actions, ...rest }: DecisionRecord): Static<typeof ScalingDecisionSchema> {
  const shown = actions.map(({ do: action, host, node, reason }) => ({ action, host, node, reason }));
  return { at: at.toISOString(), ...rest, actions: shown };
}
