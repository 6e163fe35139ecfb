import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

const BRAND_LENGTH_MAX = 100;
/** Labels this short are names by their initials. */
const INITIALS_LENGTH_MAX = 3;

/**
 * Whose landing it is, without a model: the name that the site gives itself, else its registrable domain's label made readable. Null
 * where neither says anything.
 */
export function brandOf({ site_name, final_url }: { site_name: string; final_url: string }): string | null {
  return ownName(site_name) ?? nameOfDomain(final_url);
}

function ownName(siteName: string): string | null {
  const name = siteName.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return /[\p{L}\p{N}]/u.test(name) ? name.slice(0, BRAND_LENGTH_MAX).trim().toWellFormed() : null;
}

function nameOfDomain(url: string): string | null {
  if (!/^https?:/i.test(url)) return null;
  const domain = registrableDomain(url);
  if (domain === '' || isIP(domain) !== 0 || !domain.includes('.')) return null;
  const label = domainToUnicode(domain).split('.')[0] ?? '';
  const words = label.split(/[-_]+/).filter(Boolean);
  return words.length === 0 ? null : words.map(readable).join(' ').slice(0, BRAND_LENGTH_MAX);
}

function readable(word: string): string {
  if (word.length <= INITIALS_LENGTH_MAX) return word.toUpperCase();
  return word.charAt(0).toUpperCase() + word.slice(1);
}
