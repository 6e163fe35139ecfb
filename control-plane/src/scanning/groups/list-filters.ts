import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { momentsOf, orderIssues, timezoneIssues } from '../../http/calendar-days.ts';

const day = (description: string) => Type.Optional(Type.String({ format: 'date', description }));

/** Query parameters of the lists of campaigns and of groups (spec 4.5). */
export const listFilters = {
  archived: Type.Optional(Type.Boolean({ default: false, description: 'Archived ones, and no others.' })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the name, any letter case.' })),
  created_from: day('First day of creation.'),
  created_to: day('Last day of creation.'),
  last_run_from: day('First day of the last run; excludes what never ran.'),
  last_run_to: day('Last day of the last run; excludes what never ran.'),
  timezone: Type.Optional(Type.String({ maxLength: 100, description: 'IANA timezone of the days; UTC.' })),
};

const ListFilters = Type.Object(listFilters);
export type ListFilters = Static<typeof ListFilters>;

/** Problems that the schema cannot express: an unknown timezone, days in the wrong order. */
export const listFilterIssues = (query: Partial<ListFilters>): Issue[] => [
  ...timezoneIssues(query.timezone, ['query', 'timezone']),
  ...orderIssues('created', query.created_from, query.created_to),
  ...orderIssues('last_run', query.last_run_from, query.last_run_to),
];

/** The filters as a list's store takes them; `last_run` null: also what never ran. */
export function readListFilters(query: ListFilters) {
  const { timezone = 'UTC', archived = false, q } = query;
  const range = (date_from: string | undefined, date_to: string | undefined) =>
    momentsOf({ date_from, date_to, timezone });
  return {
    is_archived: archived,
    ...(q !== undefined && { name: q }),
    created: range(query.created_from, query.created_to),
    last_run: range(query.last_run_from, query.last_run_to),
  };
}
