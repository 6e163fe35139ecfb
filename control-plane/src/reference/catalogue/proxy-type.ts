import { PROXY_TYPES, type ProxyType } from '@adsweep/shared/targeting/catalogue.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { fold, spelled } from './lookup.ts';

/** The pool a client means, in any letter case; residential where it said nothing. */
export function readProxyType(text: string | undefined): ProxyType {
  return PROXY_TYPES.find((one) => one === fold(text ?? 'residential')) ?? 'residential';
}

/** An issue where `text` is no pool's name. */
export function proxyTypeIssues(text: string | undefined, loc: Issue['loc']): Issue[] {
  if (text === undefined || spelled([...PROXY_TYPES], text) !== null) return [];
  const expected = PROXY_TYPES.map((one) => JSON.stringify(one)).join(', ');
  return [{ loc, msg: `Must be one of ${expected}.`, type: 'enum', ctx: { ...given(text), expected: PROXY_TYPES } }];
}
