import { Type } from 'typebox';
import { orNull } from '../../http/route.ts';

const QUOTA_MAX = 1_000_000_000;

const limit = (minimum: number, description: string) =>
  orNull(Type.Integer({ minimum, maximum: QUOTA_MAX, description: `${description}; null: any number.` }));

/** The quotas of an organization, in requests and answers. */
export const quotaSchemas = {
  checks_per_month: limit(0, 'Checks in a calendar month (UTC); refunded ones do not count'),
  concurrent_leases: limit(1, 'Crawl jobs that are worked on at the same time'),
  requests_per_minute: limit(1, 'Requests with each of its keys'),
};
