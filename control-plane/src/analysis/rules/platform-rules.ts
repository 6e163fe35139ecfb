import type { RuleRecord } from './rule.ts';
import { PLATFORM } from './rule-store.ts';

/** An exploit kit and the pattern of its requests; the rule's id ends with `id`. */
type Kit = { id: string; name: string; pattern: string };

/**
 * Requests of exploit kits against iOS browsers. README, "Rules that come with Adsweep", has the source of each
 * signature and what it was tested against. A name that other software uses too (`frame.html`, `pe_main.js`, `powerd`)
 * is no signature.
 */
const IOS_KITS: Kit[] = [
  {
    id: 'a1',
    name: 'Requests of exploit kits for iOS',
    pattern: [
      '/stadium/(?:goblin|wizard|megalodon)\\b',
      '/(?:payload\\.dylib|ircbin\\.plist)(?:[?#]|$)',
      '/list/suc\\?name=[\\w-]+',
    ].join('|'),
  },
  {
    id: 'a2',
    name: 'Requests of DarkSword, an exploit kit for iOS',
    pattern: '/(?:rce_(?:loader|module|worker)|sbx[01]_main)(?:_\\d+\\.\\d+)?\\.js(?:[?#]|$)',
  },
];

/** The rules that come with Adsweep. Changes by the operator are kept. */
export const platformRules = (now: Date): RuleRecord[] =>
  IOS_KITS.map(({ id, name, pattern }) => ({
    _id: `00000000-0000-4000-8000-0000000000${id}`,
    owner: PLATFORM,
    organization_id: null,
    name,
    tag_slug: 'ios_exploit_attempt',
    rule_type: 'regexp_request_url',
    config: { pattern, flags: 'i' },
    target: 'page',
    is_active: true,
    built_in: true,
    created_at: now,
  }));
