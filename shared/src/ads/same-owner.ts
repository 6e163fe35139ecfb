import { sameSite } from '../urls/registrable-domain.ts';
import { companyOf } from './ad-companies.ts';

/**
 * Whether two http(s) URLs belong to one publisher: they share a registrable domain, or a company of the list serves
 * both.
 */
export function sameOwner(one: string, other: string): boolean {
  if (sameSite(one, other)) return true;
  const company = companyOf(one)?.name;
  return company !== undefined && company === companyOf(other)?.name;
}
