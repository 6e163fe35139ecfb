import { API_BODY_BYTES_MAX } from '@adsweep/shared/limits.ts';
import { geoOf } from '@adsweep/shared/scan/geos.ts';
import { pause } from '@adsweep/shared/service/time-slice.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { iso31661, iso31661Alpha3ToAlpha2 } from 'iso-3166';
import { type Static, Type } from 'typebox';
import type { BodyBounds } from '../../http/read-body.ts';
import { orNull } from '../../http/route.ts';
import { isOperatorsTag, type Tags } from '../../reference/tags/tag-definitions.ts';
import type { Tiers } from '../../scan/scan.ts';
import { AI_CATEGORIES, IAB_CATEGORIES } from '../classification/categories.ts';
import { POLICY_RULE_TYPES, type PolicyEntry, type PolicyValue, tierNames } from './policy.ts';
import { contentKey, entryOf } from './policy-set.ts';

const name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const tier = Type.Optional(orNull(name));
const tiers = { tier1: name, tier2: tier, tier3: tier, tier4: tier };
const TiersIn = Type.Object(tiers, { additionalProperties: false, title: 'TiersIn' });
const TaxRefIn = Type.Object(
  { taxonomy_id: Type.String({ maxLength: 100 }), ...tiers },
  { additionalProperties: false, title: 'TaxRefIn' },
);
const block = <S extends Parameters<typeof orNull>[0]>(schema: S) => Type.Optional(orNull(schema));

const PolicyEntryIn = Type.Object(
  {
    rule_type: Type.Optional(Type.Enum([...POLICY_RULE_TYPES], { default: 'tag' })),
    tag_slug: block(name),
    iab_v3: block(TiersIn),
    brand: block(name),
    ai_category: Type.Optional({
      ...orNull(TiersIn),
      description: `The names are not checked. Scans have as tier1 one of: ${AI_CATEGORIES.join('; ')}. Their tier2 is in the words of the model.`,
    }),
    custom_taxonomy: block(TaxRefIn),
    country_codes: Type.Optional(
      Type.Array(Type.String({ maxLength: 10 }), {
        maxItems: 50,
        description: 'ISO 3166-1, alpha-2 or alpha-3, any letter case; none: every country.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'PolicyEntryIn',
    description: 'Exactly the field of its kind. Tiers are the beginning of a path.',
  },
);
type EntryIn = Static<typeof PolicyEntryIn>;

/** Body of `POST /policy-sets` and `PUT /policy-sets/{policy_set_id}`. */
export const PolicyInSchema = Type.Object(
  {
    name,
    description: Type.Optional(Type.String({ maxLength: 2_000, default: '' })),
    entries: Type.Array(PolicyEntryIn, { minItems: 1, maxItems: 500 }),
    campaign_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 2_000,
        description: 'The campaigns that are bound to the set; in a change, if present, no others are.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'PolicyIn',
    examples: [{ name: 'Brand safety', entries: [{ tag_slug: 'auto_redirect' }] }],
  },
);
export type PolicyIn = Static<typeof PolicyInSchema>;
/** 500 entries of at most 75 values each, for 50 countries, and 2,000 campaigns. */
export const POLICY_BOUNDS: BodyBounds = { bytes: API_BODY_BYTES_MAX, values: 40_000 };

/** What entries may refer to. `seesHidden`: hidden tags of the platform too. */
export type PolicyWords = { tags: Tags; taxonomyIds: ReadonlySet<string>; seesHidden: boolean };

const ALPHA_2 = new Set(iso31661.map(({ alpha2 }) => alpha2 as string));

/** The alpha-2 code of a country, and `XK`, which scans have too; null: there is none. */
function countryOf(code: string): string | null {
  const upper = code.trim().toUpperCase();
  if (ALPHA_2.has(upper) || geoOf(upper)) return upper;
  return (iso31661Alpha3ToAlpha2 as Record<string, string>)[upper] ?? null;
}

const IAB_BY_PATH = new Map(IAB_CATEGORIES.map(({ id, path }) => [JSON.stringify(path), id]));

const FIELD = {
  tag: 'tag_slug',
  iab_v3: 'iab_v3',
  brand: 'brand',
  ai_category: 'ai_category',
  custom_taxonomy: 'custom_taxonomy',
} as const;

/** Trimmed, because alerts are found by these names. */
const filled = ({ tier1, tier2, tier3, tier4 }: Static<typeof TiersIn>): Tiers => {
  const orNone = (tierName: string | null | undefined) => tierName?.trim() ?? null;
  return { tier1: tier1.trim(), tier2: orNone(tier2), tier3: orNone(tier3), tier4: orNone(tier4) };
};
const hasGap = ({ tier2, tier3, tier4 }: Tiers): boolean =>
  (tier2 === null && tier3 !== null) || (tier3 === null && tier4 !== null);

type Read = { value: PolicyValue | null; issues: Issue[] };

/**
 * The entries of a body without archived tags, and all that is wrong with them. With pauses: there may be 500 of them
 * for 50 countries each.
 */
export async function readEntries(setId: string, sent: EntryIn[], words: PolicyWords) {
  const issues: Issue[] = [];
  const entries: PolicyEntry[] = [];
  const seen = new Set<string>();
  for (const [at, entry] of sent.entries()) {
    await pause();
    const path = (issue: Issue): Issue => ({ ...issue, loc: ['body', 'entries', at, ...issue.loc] });
    const countries = (entry.country_codes ?? []).map(countryOf);
    const unknown = (entry.country_codes ?? []).flatMap((code, index) =>
      countries[index] === null
        ? [issueAt(['country_codes', index], 'not_found', 'There is no such country.', code)]
        : [],
    );
    const { value, issues: ofValue } = readValue(entry, words);
    issues.push(...[...ofValue, ...unknown].map(path));
    if (!value || unknown.length > 0) continue;
    const codes = countries.filter((code) => code !== null);
    const key = contentKey(value, codes);
    if (seen.has(key)) issues.push(path(issueAt([], 'duplicate', 'The set has this entry already.', undefined)));
    seen.add(key);
    const isArchived = value.rule_type === 'tag' && words.tags.get(value.tag_slug)?.archived_at != null;
    if (!isArchived) entries.push(entryOf(setId, value, codes));
  }
  return { entries, issues };
}

const issueAt = (loc: Issue['loc'], type: string, msg: string, given: unknown): Issue => ({
  loc,
  msg,
  type,
  ctx: given === undefined ? {} : { given },
});

/** The value of an entry, if its fields are those of its kind. */
function readValue(entry: EntryIn, words: PolicyWords): Read {
  const { rule_type = 'tag' } = entry;
  const own = FIELD[rule_type];
  const others = Object.values(FIELD).filter((field) => field !== own && entry[field] != null);
  if (others.length > 0) {
    const msg = `An entry of the type ${rule_type} has only its ${own}.`;
    return { value: null, issues: others.map((field) => issueAt([field], 'invalid_combination', msg, entry[field])) };
  }
  const none = {
    value: null,
    issues: [issueAt([own], 'missing', `An entry of the type ${rule_type} needs it.`, undefined)],
  };
  switch (rule_type) {
    case 'tag':
      return entry.tag_slug == null ? none : readTag(entry.tag_slug, words);
    case 'brand':
      return entry.brand == null ? none : { value: { rule_type, brand: entry.brand.trim() }, issues: [] };
    case 'iab_v3':
      return entry.iab_v3 == null ? none : readIab(entry.iab_v3);
    case 'ai_category':
      return entry.ai_category == null
        ? none
        : withoutGap('ai_category', entry.ai_category, (ai_category) => ({ rule_type, ai_category }));
    case 'custom_taxonomy': {
      const { custom_taxonomy: sent } = entry;
      if (sent == null) return none;
      if (!words.taxonomyIds.has(sent.taxonomy_id)) {
        const loc = ['custom_taxonomy', 'taxonomy_id'];
        return { value: null, issues: [issueAt(loc, 'not_found', 'There is no such taxonomy.', sent.taxonomy_id)] };
      }
      const { taxonomy_id } = sent;
      return withoutGap('custom_taxonomy', sent, (path) => ({
        rule_type,
        custom_taxonomy: { taxonomy_id, ...path },
      }));
    }
  }
}

function readTag(slug: string, { tags, seesHidden }: PolicyWords): Read {
  const tag = tags.get(slug);
  if (tag && (seesHidden || !isOperatorsTag(tag))) return { value: { rule_type: 'tag', tag_slug: slug }, issues: [] };
  return { value: null, issues: [issueAt(['tag_slug'], 'not_found', `Unknown tag(s): ${slug}`, slug)] };
}

function withoutGap(field: string, sent: Static<typeof TiersIn>, toValue: (path: Tiers) => PolicyValue): Read {
  const path = filled(sent);
  if (!hasGap(path)) return { value: toValue(path), issues: [] };
  return { value: null, issues: [issueAt([field], 'invalid_combination', 'A tier needs the one above it.', sent)] };
}

function readIab(sent: Static<typeof TiersIn>): Read {
  const path = filled(sent);
  const read = withoutGap('iab_v3', sent, () => ({ rule_type: 'iab_v3', iab_v3: { id: '', ...path } }));
  if (!read.value) return read;
  const id = IAB_BY_PATH.get(JSON.stringify(tierNames(path)));
  if (id !== undefined) return { value: { rule_type: 'iab_v3', iab_v3: { id, ...path } }, issues: [] };
  const msg = 'The IAB Content Taxonomy 3.0 has no such path.';
  return { value: null, issues: [issueAt(['iab_v3'], 'not_found', msg, sent)] };
}
