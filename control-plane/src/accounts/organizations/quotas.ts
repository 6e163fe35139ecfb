/** What an organization may use at most; null: there is no limit. */
export type Quotas = {
  /** Checks that it makes in a calendar month (UTC); those that are refunded do not count. */
  checks_per_month: number | null;
  /** Crawl jobs of it that browser nodes work on at the same time. */
  concurrent_leases: number | null;
  /** Requests to the API with each of its keys. */
  requests_per_minute: number | null;
};

export const NO_QUOTAS: Readonly<Quotas> = {
  checks_per_month: null,
  concurrent_leases: null,
  requests_per_minute: null,
};
