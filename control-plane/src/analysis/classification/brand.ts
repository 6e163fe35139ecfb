import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { namesInMarkup } from './names-in-markup.ts';

const BRAND_LENGTH_MAX = 100;
/** Labels this short are names by their initials. */
const INITIALS_LENGTH_MAX = 3;
/** What stands between the name of a page and that of its site. */
const TITLE_SEPARATOR = /\s+[|·•:»–—-]\s+|\s*[|»–—]\s*/u;

/** What the brand of a landing is taken from: its own names, where it ended, and its HTML as it was stored ('': there is none). */
export type NamedLanding = { site_name: string; page_title: string; final_url: string; html: string };

/**
 * Whose landing it is, without a model: the name that the site gives itself (OpenGraph, then JSON-LD), else the part of its title that
 * spells its domain, else its registrable domain's label made readable. Null where none of them says anything.
 */
export function brandOf({ site_name, page_title, final_url, html }: NamedLanding): string | null {
  const { openGraph, jsonLd } = namesInMarkup(html);
  return (
    ownName(openGraph) ??
    ownName(site_name) ??
    ownName(jsonLd) ??
    nameInTitle(page_title, final_url) ??
    nameOfDomain(final_url)
  );
}

function ownName(siteName: string): string | null {
  const name = siteName.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return /[\p{L}\p{N}]/u.test(name) ? name.slice(0, BRAND_LENGTH_MAX).trim().toWellFormed() : null;
}

/** The part of a title that is the domain's label but for case, spaces and signs: `Acme Shoes` of `acmeshoes.example`. */
function nameInTitle(title: string, url: string): string | null {
  const label = labelOf(url);
  const spelled = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
  const part = title.split(TITLE_SEPARATOR).find((one) => label !== null && spelled(one) === spelled(label));
  return part === undefined ? null : ownName(part);
}

function nameOfDomain(url: string): string | null {
  const words = (labelOf(url) ?? '').split(/[-_]+/).filter(Boolean);
  return words.length === 0 ? null : words.map(readable).join(' ').slice(0, BRAND_LENGTH_MAX);
}

/** The first label of a registrable domain, in Unicode; null for what has none. */
function labelOf(url: string): string | null {
  if (!/^https?:/i.test(url)) return null;
  const domain = registrableDomain(url);
  if (domain === '' || isIP(domain) !== 0 || !domain.includes('.')) return null;
  return domainToUnicode(domain).split('.')[0] ?? null;
}

function readable(word: string): string {
  if (word.length <= INITIALS_LENGTH_MAX) return word.toUpperCase();
  return word.charAt(0).toUpperCase() + word.slice(1);
}
