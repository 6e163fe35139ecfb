import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { timezoneIssues } from '../../http/calendar-days.ts';
import { orNull } from '../../http/route.ts';
import { pickFields } from '../../platform/pick-fields.ts';
import { isSent, issueAt } from '../scans/request/checks/check.ts';
import { INTERVALS, SCHEDULE_FIELDS, SCHEDULE_TYPES, type ScheduleSettings } from './schedule.ts';

const Hours = Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 23 }), { maxItems: 24 }));
const days = Object.fromEntries(Array.from({ length: 7 }, (_, day) => [String(day), Hours]));
const Weekly = Type.Object(days, {
  additionalProperties: false,
  description: 'Of the type `weekly`: hours (0 to 23) by day, `0` (Monday) to `6`.',
});

/** The fields of a schedule in the body of a campaign; null is the default. */
export const scheduleFields = {
  schedule_type: Type.Optional(orNull(Type.Enum([...SCHEDULE_TYPES], { description: 'null: no schedule.' }))),
  schedule_weekly: Type.Optional(orNull(Weekly)),
  schedule_interval_seconds: Type.Optional(
    orNull(Type.Enum([...INTERVALS], { description: 'Of the type `interval`; counted from the moment of enabling.' })),
  ),
  schedule_timezone: Type.Optional(
    orNull(Type.String({ maxLength: 100, description: 'IANA timezone of the hours; null: UTC.' })),
  ),
  schedule_enabled: Type.Optional(
    orNull(
      Type.Boolean({ description: 'By default true where there is a type; in a change, null keeps it as it is.' }),
    ),
  ),
};
const ScheduleIn = Type.Object(scheduleFields);

/** The fields of a schedule as they are sent. */
export type ScheduleIn = Static<typeof ScheduleIn>;

const FIELD_OF = { weekly: 'schedule_weekly', interval: 'schedule_interval_seconds' } as const;
const FIELDS = Object.values(FIELD_OF);

/** All problems of a schedule whose form was checked: it has the field of its type, and not that of the other. */
export function scheduleIssues(sent: Partial<ScheduleIn>, refused: ReadonlySet<string>): Issue[] {
  const { schedule_type: type, schedule_enabled, schedule_timezone: timezone } = sent;
  const zone = timezoneIssues(timezone ?? undefined, ['body', 'schedule_timezone']);
  if (refused.has('schedule_type')) return zone;
  const own = type ? FIELD_OF[type] : null;
  const others = FIELDS.filter((field) => field !== own && isSent(sent[field])).map((field) =>
    issueAt(field, 'invalid_combination', `Not with the schedule_type ${type ?? null}.`, sent[field]),
  );
  return [...zone, ...others, ...ownIssues(sent, own, refused), ...enabledIssues(own, schedule_enabled)];
}

function ownIssues(
  sent: Partial<ScheduleIn>,
  own: (typeof FIELDS)[number] | null,
  refused: ReadonlySet<string>,
): Issue[] {
  if (own === null || refused.has(own)) return [];
  if (!isSent(sent[own])) return [issueAt(own, 'missing', `A schedule of this type needs its ${own}.`, sent[own])];
  const isEmpty =
    own === 'schedule_weekly' && Object.values(sent.schedule_weekly ?? {}).every((hours) => !hours?.length);
  return isEmpty ? [issueAt(own, 'invalid_combination', 'Name at least one hour.', sent[own])] : [];
}

const enabledIssues = (own: string | null, isEnabled: unknown): Issue[] =>
  own === null && isEnabled === true
    ? [issueAt('schedule_enabled', 'invalid_combination', 'Only with a schedule_type.', isEnabled)]
    : [];

/** A schedule that passed its checks, in the form in which it is stored: hours in order, each once. */
export function scheduleSettingsOf(sent: Partial<ScheduleIn>): ScheduleSettings {
  const {
    schedule_type = null,
    schedule_weekly,
    schedule_interval_seconds,
    schedule_timezone,
    schedule_enabled,
  } = sent;
  const days = Object.entries(schedule_weekly ?? {}).filter(([, hours]) => hours?.length);
  const weekly = days.map(([day, hours]) => [day, [...new Set(hours)].toSorted((a, b) => a - b)]);
  return {
    schedule_type,
    schedule_weekly: schedule_type === 'weekly' ? Object.fromEntries(weekly) : null,
    schedule_interval_seconds: schedule_type === 'interval' ? (schedule_interval_seconds ?? null) : null,
    schedule_timezone: schedule_timezone ?? null,
    schedule_enabled: schedule_type !== null && (schedule_enabled ?? true),
  };
}

/**
 * The schedule of a campaign after a change: another type leaves the field of the former, and is enabled unless it says
 * otherwise.
 */
export function changedSchedule(before: ScheduleSettings, body: Partial<ScheduleIn>): Partial<ScheduleIn> {
  const { schedule_type, schedule_timezone, schedule_enabled } = before;
  if (body.schedule_type === undefined || body.schedule_type === schedule_type)
    return pickFields(before, ...SCHEDULE_FIELDS);
  const isKept = schedule_type !== null && body.schedule_type !== null;
  return { schedule_timezone, ...(isKept && { schedule_enabled }) };
}
