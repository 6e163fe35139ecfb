import { pause } from '@adsweep/shared/service/time-slice.ts';
import { type Static, Type } from 'typebox';
import { moment, orNull } from '../../http/route.ts';
import { SEVERITIES } from '../../reference/tags/system-tag.ts';
import { RULE_TYPE_NAMES } from './rule.ts';
import { RULE_TARGETS, SLUG_PATTERN } from './rule-types/rule-type.ts';

const Visibility = Type.Enum(['hidden', 'internal', 'public']);
const Name = Type.String({ minLength: 1, maxLength: 200 });
const Slug = Type.String({
  pattern: `^$|${SLUG_PATTERN}`,
  description: 'The tag that a match assigns. Empty for AI rules, which assign those of `config.tags`.',
});
const Target = Type.Enum(RULE_TARGETS, { default: 'page' });
const Visibilities = Type.Record(Type.String(), Visibility, {
  maxProperties: 100,
  description: 'The visibility of tags that it assigns.',
});

/** A type, a configuration and a target, as rules and rule tests send them. */
export const conditionFields = {
  rule_type: Type.Enum(RULE_TYPE_NAMES),
  config: Type.Object(
    {},
    { additionalProperties: true, maxProperties: 20, description: 'By `rule_type`; other keys are refused.' },
  ),
  target: Type.Optional(Target),
};

export const RuleInSchema = Type.Object(
  {
    name: Name,
    tag_slug: Type.Optional({ ...Slug, default: '' }),
    ...conditionFields,
    tag_visibility: Type.Optional(orNull(Visibilities)),
    tag_category: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: 'custom' })),
    tag_severity: Type.Optional(Type.Enum(SEVERITIES, { default: 'low' })),
  },
  {
    additionalProperties: false,
    title: 'RuleIn',
    examples: [
      {
        name: 'Casino words',
        tag_slug: 'casino',
        rule_type: 'stopword_content',
        config: { contains: ['casino', 'free spins'] },
      },
    ],
  },
);
export type RuleIn = Static<typeof RuleInSchema>;

/** What is absent or null stays as it is; `config` is replaced as a whole. */
export const RulePutSchema = Type.Object(
  {
    name: Type.Optional(orNull(Name)),
    tag_slug: Type.Optional(orNull(Slug)),
    config: Type.Optional(orNull(conditionFields.config)),
    target: Type.Optional(orNull(Target)),
    is_active: Type.Optional(orNull(Type.Boolean())),
    tag_visibility: Type.Optional(orNull(Visibilities)),
  },
  { additionalProperties: false, title: 'RulePut' },
);
export type RulePut = Static<typeof RulePutSchema>;

export const RuleSchema = Type.Object(
  {
    id: Type.String(),
    organization_id: orNull(Type.String()),
    name: Type.String(),
    tag_slug: Type.String(),
    rule_type: Type.Enum(RULE_TYPE_NAMES),
    config: conditionFields.config,
    target: Type.Enum(RULE_TARGETS),
    is_active: Type.Boolean(),
    created_at: moment(),
    scope: Type.Enum(['system', 'personal']),
    tag_visibility: Visibilities,
    cannot_match: {
      ...orNull(Type.String()),
      description:
        'Which condition of a combo no scan can meet as the tags are now, such as a tag that is archived; null: there is none, or it is a rule of the platform.',
    },
  },
  { title: 'Rule' },
);

/** A pasted list, and what it holds. */
export const ListTextSchema = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: 1_000_000 }) },
  { additionalProperties: false, title: 'ListText' },
);
export const ListSchema = Type.Object(
  { items: Type.Array(Type.String()), duplicates: Type.Integer({ description: 'Items that were left out.' }) },
  { title: 'ParsedList' },
);

/** The items of a pasted list in order without duplicates, and the count of these. */
type ParsedList = { items: string[]; duplicates: number };

const CELLS_AT_ONCE = 1_000;

/**
 * Reads a pasted list: lines, CSV (RFC 4180, with quotes), or items separated by semicolons or tabs. Items are trimmed;
 * empty ones are skipped. Pauses, because a list may have half a million items.
 */
export async function parseList(text: string): Promise<ParsedList> {
  const items = new Set<string>();
  let [cells, found] = [0, 0];
  for (const [plain, quoted] of text.replace(/^\uFEFF/, '').matchAll(/"((?:[^"]|"")*)"|[^,;\t\r\n"]+/g)) {
    const item = (quoted?.replaceAll('""', '"') ?? plain).trim();
    if (item !== '') {
      items.add(item);
      found += 1;
    }
    cells += 1;
    if (cells % CELLS_AT_ONCE === 0) await pause();
  }
  return { items: [...items], duplicates: found - items.size };
}
