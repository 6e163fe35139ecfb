import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { FoundCampaign } from '../find-campaign.ts';
import type { ScanSettings } from '../scan-in.ts';

/**
 * A requested scan without the fields that do not match the schema. `refused` names those, so that a check does not
 * report an invalid field as missing. `countries`: in upper case, those that were sent as text; `sentCountries`: as
 * they were sent.
 */
export type ScanRequest = {
  scan: Partial<ScanSettings>;
  refused: ReadonlySet<string>;
  sentCountries: SentCountries;
  countries: string[];
  campaign: FoundCampaign;
  catalogue: Catalogue;
  addresses: AddressPolicy;
};

/** The field that names the country or the countries, and what was sent there. */
export type SentCountries = { field: 'country_code'; value: unknown } | { field: 'country_codes'; value: unknown };

/** One group of rules for a request. Returns the problems that it finds. */
export type Check = (request: ScanRequest) => Issue[];

/** An issue of one body field, `given` with what was sent there. */
export function issueAt(
  field: string | (string | number)[],
  type: string,
  msg: string,
  value: unknown,
  ctx: Record<string, unknown> = {},
): Issue {
  return { loc: ['body', ...[field].flat()], msg, type, ctx: { ...given(value), ...ctx } };
}

/** Whether a field was sent; null is the same as omitting it. */
export const isSent = (value: unknown): boolean => value !== undefined && value !== null;
