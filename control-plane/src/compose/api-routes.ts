import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import { type IsActive, whereActive } from '../accounts/organizations/require-active.ts';
import { countChanges, type StoredPerDay } from '../accounts/stored-per-day.ts';
import { WEBHOOKS } from '../delivery/webhooks/endpoint-routes.ts';
import { EVENT_TYPES } from '../delivery/webhooks/event-types.ts';
import type { Caller } from '../http/caller.ts';
import type { IdempotencyStore } from '../http/idempotency-store.ts';
import { runOnceForKeys } from '../http/idempotent.ts';
import { openapi } from '../http/openapi.ts';
import { ok, type Route, route } from '../http/route.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const DESCRIPTION = `Checks of advertising creatives: a real browser loads a page from a country and a device of your choice, follows
where it leads, and says what it found.

Every request carries \`Authorization: Bearer <API_KEY>\`. Times are ISO 8601, money is integer micros, lists are pages. Refused fields
are answered together, as 422 with one item each.`;

/** The groups of the document, in its order. */
const GROUPS = {
  Scans: 'Checks of one target each: created, followed, listed and cancelled.',
  Campaigns: 'What is scanned again and again, in which countries and on which devices.',
  'Campaign groups': 'Campaigns that are archived, restored and paused together.',
  Runs: 'The scans of a campaign that belong together.',
  'Policy sets': 'What must not be found of the scans of a campaign.',
  Alerts: 'What was found all the same, and what became of it.',
  Artifacts: 'What was captured of a scan, under the same authorization as everything else.',
  Reference: 'What a scan can ask for, and this document.',
  Tags: 'What can be found of a scan.',
  Account: 'Your organization, its keys, roles and labels, and who changed them.',
  'Alert notifications': 'Where messages about alerts are sent, and which campaigns send them where.',
  Webhooks: 'Where events are sent, what was sent, and what they say.',
  'Custom rules': 'Conditions of your own that assign tags.',
  'Custom taxonomies': 'Categories of your own, by which a model classifies your scans.',
  Organizations: 'The organizations of this deployment, for its operator.',
  Billing: 'What was used, charged and given back, and what is left.',
  Fleet: 'The browser nodes, for the operator.',
};

/** Pages for people, and forms of a website: the document does not list them. */
const UNLISTED = new Set(['Reports', 'Forms']);

export type ApiRouteParts = {
  idempotency: IdempotencyStore;
  isActive: IsActive;
  storedPerDay: StoredPerDay;
  publicUrl: string;
};

/**
 * The operations of all domains with what holds for all of them, the document that describes them, and what it does not
 * list.
 */
export function apiRoutes(
  routes: Route<Caller>[],
  { idempotency, isActive, storedPerDay, publicUrl }: ApiRouteParts,
): Route<Caller>[] {
  const operations = inOrderOfGroups(routes.filter(({ group }) => !UNLISTED.has(group)));
  const takeAnswerBytes = (organizationId: string, bytes: number) =>
    storedPerDay.take(organizationId, 'answers', bytes);
  // Outermost: a repeated request gets its first response whatever has changed since.
  const guarded = whereActive(countChanges(operations, storedPerDay), isActive);
  const whole = runOnceForKeys(guarded, { store: idempotency, takeAnswerBytes });
  return [...whole, documentRoute(whole, publicUrl), ...routes.filter(({ group }) => UNLISTED.has(group))];
}

/** Throws for a group that the document does not describe. */
function inOrderOfGroups(routes: Route<Caller>[]): Route<Caller>[] {
  const groups = Object.keys(GROUPS);
  const unknown = routes.find(({ group }) => !groups.includes(group));
  if (unknown) throw new Error(`the group ${unknown.group} of ${unknown.path} has no description`);
  return groups.flatMap((name) => routes.filter(({ group }) => group === name));
}

function documentRoute(routes: Route<Caller>[], publicUrl: string): Route<Caller> {
  const own = route<Caller>({
    method: 'GET',
    path: '/api/v1/openapi.json',
    group: 'Reference',
    operationId: 'getOpenApiDocument',
    summary: 'This document',
    description: 'It describes every operation, field and error, and needs no credential.',
    permission: 'none',
    replies: {
      200: { description: 'OpenAPI 3.1.', schema: Type.Object({}, { additionalProperties: true }) },
    },
    handle: () => ok(document(), { 'Cache-Control': 'max-age=300' }),
  });
  // Made when it is first asked for: most processes never are.
  let made: ReturnType<typeof openapi> | null = null;
  const document = () => {
    made ??= openapi([...routes, own] as Route<never>[], {
      title: 'Adsweep API',
      version,
      description: DESCRIPTION,
      publicUrl,
      groups: GROUPS,
      messages: EVENT_TYPES.map(({ kind, ...of }) => ({ name: kind, group: WEBHOOKS.group, ...of })),
    });
    return made;
  };
  return own;
}
