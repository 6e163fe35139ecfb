import { domainToASCII } from 'node:url';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { parse } from 'tldts';
import { Type } from 'typebox';
import { type DomainsConfig, RULE_TARGETS } from '../rule.ts';
import type { RuleTypeForm } from './rule-type.ts';

/** Domains with everything below them. */
export const domains: RuleTypeForm = {
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
  issues: ({ domains: names }: DomainsConfig): Issue[] => names.flatMap(domainIssues),
};

/** Why a list of domains refuses the name at this place; none where it takes it. */
export function domainIssues(name: string, at: number): Issue[] {
  const { hostname, domain, isIp } = parse(domainToASCII(name), { allowPrivateDomains: true });
  if (hostname === domainToASCII(name).toLowerCase() && (isIp || domain !== null)) return [];
  const isSuffix = hostname !== null && domain === null && !isIp;
  const msg = isSuffix ? 'This is a public suffix: name a domain below it.' : 'This is not a domain name.';
  return [{ loc: ['domains', at], msg, type: isSuffix ? 'public_suffix' : 'domain', ctx: given(name) }];
}
