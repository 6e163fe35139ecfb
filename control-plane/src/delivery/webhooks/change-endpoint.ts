import { randomBytes } from 'node:crypto';
import { HOUR_MS } from '@adsweep/shared/durations.ts';
import { dueAtOnce } from '../../platform/due-by-organization.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { type EndpointRecord, type EndpointSettings, secretContext, signingSecrets } from './endpoint.ts';
import type { EndpointStore } from './endpoint-store.ts';
import { healthyFrom } from './health.ts';

const SECRET_BYTES = 24;
/** Earlier secrets that sign at the same time; the oldest end first. */
const EARLIER_SECRETS_MAX = 4;

/** A new secret in the form of Standard Webhooks. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** What a client changes; absent fields stay. */
export type EndpointPatch = Partial<EndpointSettings> & { is_active?: boolean };

/**
 * The update of an endpoint for a patch. One that is switched on, also while it fails, starts anew, and so does one
 * that gets another URL, unless a client has paused it; one that is switched off is paused.
 */
export function patched(
  was: EndpointRecord,
  { is_active: sent, ...settings }: EndpointPatch,
  now: Date,
): { set: Partial<EndpointRecord>; unset?: 'due_at'[] } {
  const set: Partial<EndpointRecord> = { ...settings, updated_at: now };
  const hasMoved = settings.url !== undefined && settings.url !== was.url;
  // What switched it off were failures of the former URL.
  const is_active = sent ?? (was.is_active || (hasMoved && was.disabled?.reason === 'failing'));
  if (!is_active) {
    if (!was.is_active) return { set };
    const disabled = { reason: 'paused' as const, detail: 'Paused by a client of the API.', at: now };
    return { set: { ...set, is_active, disabled, health: { ...was.health, paused_until: null } }, unset: ['due_at'] };
  }
  // One that fails may be waiting for the end of a pause of up to an hour.
  const isTriedNow = sent === true && was.health.failing_since !== null;
  if (was.is_active && !hasMoved && !isTriedNow) return { set };
  const anew = { health: healthyFrom(was.health.days), epoch: was.epoch + 1, due_at: dueAtOnce(now) };
  return { set: { ...set, is_active, disabled: null, ...anew } };
}

/** Changes an endpoint, whatever else changes it meanwhile; null: there is none. */
export async function changeEndpoint(
  endpoints: Pick<EndpointStore, 'find' | 'change'>,
  [organizationId, id]: [string, string],
  changeOf: (was: EndpointRecord) => { set: Partial<EndpointRecord>; unset?: 'due_at'[] },
  follows: OutboxEntry[],
): Promise<EndpointRecord | null> {
  for (;;) {
    const was = await endpoints.find(organizationId, id);
    if (!was) return null;
    const changed = await endpoints.change(was, { ...changeOf(was), follows });
    if (changed) return changed;
  }
}

/**
 * The update of an endpoint that gets a new secret; with `overlapHours` the present one, and those that still sign,
 * sign until they end.
 */
export function rotated(was: EndpointRecord, sealed: string, overlapHours: number | null, now: Date) {
  const until = new Date(now.getTime() + (overlapHours ?? 0) * HOUR_MS);
  const signing = was.earlier_secrets.filter((earlier) => earlier.until > now);
  const earlier = [{ secret: was.secret, until }, ...signing].slice(0, EARLIER_SECRETS_MAX);
  return { set: { secret: sealed, earlier_secrets: overlapHours === null ? [] : earlier, updated_at: now } };
}

/** The secrets that sign for an endpoint at `now`, the newest first. Throws SecretError. */
export const openSigningSecrets = (secrets: Secrets, endpoint: EndpointRecord, now: Date): string[] =>
  signingSecrets(endpoint, now).map((sealed) => secrets.open(sealed, secretContext(endpoint._id)));
