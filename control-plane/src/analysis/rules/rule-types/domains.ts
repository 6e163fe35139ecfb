import { domainToASCII } from 'node:url';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { parse } from 'tldts';
import { Type } from 'typebox';
import type { ScopedRule } from '../search/search-run.ts';
import { RULE_TARGETS, searchType } from './rule-type.ts';

/** The rules that name each domain. */
type DomainPass = { rules: ScopedRule[]; byDomain: Map<string, ScopedRule[]> };

/** Domains and their subdomains in the redirect chain. */
export const blacklistDomain = searchType({
  type: 'blacklist_domain',
  config: Type.Object(
    {
      domains: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'Registrable names or deeper ones; what is below them matches too.',
      }),
    },
    { additionalProperties: false, title: 'DomainsConfig' },
  ),
  targets: RULE_TARGETS,
  issues: ({ domains }) => domains.flatMap(domainIssues),
  source: 'chain',
  cost: 'lookup',
  scope: 'target',
  read: ({ domains }) => new Set(domains.map(hostFormOf)),
  compile: (rules): DomainPass[] => {
    const byDomain = new Map<string, ScopedRule[]>();
    for (const { rule, read } of rules)
      for (const domain of read) byDomain.set(domain, [...(byDomain.get(domain) ?? []), rule]);
    return [{ rules: rules.map(({ rule }) => rule), byDomain }];
  },
  match: ({ byDomain }, texts, run) => {
    for (const text of texts) {
      const host = hostOf(text.url);
      const start = text.url.indexOf(host);
      for (const suffix of suffixesOf(host))
        for (const rule of byDomain.get(suffix) ?? [])
          if (run.wants(rule, text)) run.add(rule, text, text.url, start, start + host.length);
      if (run.budget.isSpent) return false;
    }
    return true;
  },
});

/** A name as it is in the host of a URL: in lower case, other letters than those of ASCII as punycode. */
function hostFormOf(name: string): string {
  const host = domainToASCII(name);
  if (host === '') throw new TypeError('not a domain name');
  return host;
}

/** What is wrong with one name in a list of domains; [] if the list accepts it. */
export function domainIssues(name: string, at: number): Issue[] {
  const { hostname, domain, isIp } = parse(domainToASCII(name), { allowPrivateDomains: true });
  if (hostname === domainToASCII(name).toLowerCase() && (isIp || domain !== null)) return [];
  const isSuffix = hostname !== null && domain === null && !isIp;
  const msg = isSuffix ? 'This is a public suffix: name a domain below it.' : 'This is not a domain name.';
  return [{ loc: ['domains', at], msg, type: isSuffix ? 'public_suffix' : 'domain', ctx: given(name) }];
}

/** Without the dot that a complete name may end with. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '');

/** `a.b.example`, `b.example` and `example`. */
function suffixesOf(host: string): string[] {
  const labels = host.split('.');
  return host === '' ? [] : labels.map((_, at) => labels.slice(at).join('.'));
}
