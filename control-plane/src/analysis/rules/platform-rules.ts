import type { RuleRecord } from './rule.ts';
import { PLATFORM } from './rule-store.ts';

/**
 * Requests that campaigns against browsers of iOS are known by. Sources: Amnesty International, "Forensic Methodology Report: How to
 * catch NSO Group's Pegasus" (2021), for the `stadium` paths; Kaspersky on LightSpy (2020), for the names of its payloads; Google
 * Project Zero, "A very deep dive into iOS exploit chains found in the wild" (2019), for the upload of stolen lists.
 */
const IOS_EXPLOIT_REQUESTS = [
  '/stadium/(?:goblin|wizard|megalodon)\\b',
  '/(?:payload\\.dylib|ircbin\\.plist)(?:[?#]|$)',
  '/list/suc\\?name=[\\w-]+',
].join('|');

/** The rules that come with Adsweep. The operator may change them; what is changed stays. */
export const platformRules = (now: Date): RuleRecord[] => [
  {
    _id: '00000000-0000-4000-8000-0000000000a1',
    owner: PLATFORM,
    organization_id: null,
    name: 'Requests of exploit kits for iOS',
    tag_slug: 'ios_exploit_attempt',
    rule_type: 'regexp_request_url',
    config: { pattern: IOS_EXPLOIT_REQUESTS, flags: 'i' },
    target: 'page',
    is_active: true,
    built_in: true,
    created_at: now,
  },
];
