import { DistinctList } from '@adsweep/shared/validation/distinct-list.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { hasCategory, inService, type Tags } from '../../../reference/tags/tag-definitions.ts';
import { MATCHES_PER_RULE_MAX } from '../search/search-run.ts';
import type { FoundTag, TagType } from './rule-type.ts';

const Slugs = (description: string) =>
  Type.Optional(
    DistinctList(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 100,
      description,
    }),
  );
const AtLeast = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 1, description }));

const config = Type.Object(
  {
    match_scope: Type.Optional(
      Type.Enum(['scan', 'url'], { default: 'scan', description: '`url`: all conditions on one link.' }),
    ),
    all_of: Slugs('All of these tags.'),
    any_of: Slugs('`any_of_min` of these tags.'),
    any_of_min: AtLeast('How many of `any_of`.'),
    none_of: Slugs('None of these tags.'),
    tag_category: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    count_gte: AtLeast('How many tags of `tag_category`.'),
  },
  { additionalProperties: false, title: 'ComboConfig' },
);
export type ComboConfig = Static<typeof config>;

/** Combinations of tags; every condition that is given must hold. */
export const combo: TagType<'combo', ComboConfig> = {
  type: 'combo',
  config,
  targets: ['page'],
  issues: (written, { tags, ofPlatform = false }) => [
    ...contradictions(written),
    ...unknownTags(written, tags),
    ...(ofPlatform ? [] : unknownCategory(written, tags)),
  ],
  source: 'tags',
  inputs: ({ all_of = [], any_of = [], none_of = [] }) => [...all_of, ...any_of, ...none_of],
  match: matchCombo,
  unmet,
  describe: ({ all_of, any_of, any_of_min = 1, none_of, tag_category, count_gte = 1 }) =>
    [
      all_of && `all of ${all_of.join(', ')}`,
      any_of && `at least ${any_of_min} of ${any_of.join(', ')}`,
      none_of && `none of ${none_of.join(', ')}`,
      tag_category && `at least ${count_gte} of category ${tag_category}`,
    ]
      .filter(Boolean)
      .join('; '),
};

function contradictions({ all_of, any_of, any_of_min, none_of, tag_category, count_gte }: ComboConfig): Issue[] {
  const refuse = (field: string, msg: string): Issue => ({ loc: [field], msg, type: 'invalid_combination', ctx: {} });
  const isEmpty = [all_of, any_of, none_of, tag_category].every((condition) => condition === undefined);
  const absent = new Set(none_of);
  const left = any_of?.filter((slug) => !absent.has(slug)).length ?? 0;
  return [
    ...(isEmpty ? [{ loc: [], msg: 'Name at least one condition.', type: 'missing', ctx: {} }] : []),
    ...(any_of_min !== undefined && !any_of ? [refuse('any_of_min', 'Needs any_of beside it.')] : []),
    ...(any_of && (any_of_min ?? 1) > any_of.length
      ? [refuse('any_of_min', 'Must not be more than any_of has tags.')]
      : any_of && (any_of_min ?? 1) > left
        ? [refuse('none_of', 'Leaves fewer tags of any_of than any_of_min.')]
        : []),
    ...(all_of?.some((slug) => absent.has(slug)) ? [refuse('none_of', 'Has a tag of all_of: both cannot hold.')] : []),
    ...(count_gte !== undefined && tag_category === undefined
      ? [refuse('count_gte', 'Needs tag_category beside it.')]
      : []),
  ];
}

function unknownTags(written: ComboConfig, tags: Tags): Issue[] {
  return (['all_of', 'any_of', 'none_of'] as const).flatMap((condition): Issue[] => {
    const unknown = (written[condition] ?? []).filter((slug) => !tags.has(slug));
    if (unknown.length === 0) return [];
    const msg = `Unknown tag(s): ${unknown.join(', ')}.`;
    return [{ loc: [condition], msg, type: 'not_found', ctx: given(written[condition]) }];
  });
}

function unknownCategory({ tag_category }: ComboConfig, tags: Tags): Issue[] {
  if (tag_category === undefined || hasCategory(tags, tag_category)) return [];
  const msg = `No tag has the category ${tag_category}.`;
  return [{ loc: ['tag_category'], msg, type: 'not_found', ctx: given(tag_category) }];
}

/** Archived tags are not assigned, and no combo counts them (spec 2.5). */
function unmet(written: ComboConfig, tags: Tags): string | null {
  const { all_of = [], any_of, any_of_min = 1, tag_category, count_gte = 1 } = written;
  const missing = all_of.find((slug) => !inService(tags, slug));
  if (missing !== undefined) return `No scan gets the tag ${missing}, which is archived or gone.`;
  const left = any_of?.filter((slug) => inService(tags, slug)).length ?? 0;
  if (any_of && left < any_of_min) return `Only ${left} of the tags of any_of are in service.`;
  const ofCategory = [...tags.values()].filter(
    (tag) => tag.category === tag_category && tag.archived_at === null,
  ).length;
  if (tag_category === undefined || ofCategory >= count_gte) return null;
  if (ofCategory === 0) return `No tag in service has the category ${tag_category}.`;
  return `Only ${ofCategory} of the tags in service have the category ${tag_category}.`;
}

/**
 * Where a combo holds (spec 2.6): [''] on the whole scan, or the first links on each of which all conditions hold. Tags
 * that belong to no link keep a `url` combo on the whole scan; one that asks only for absent tags is tried on all
 * links.
 */
function matchCombo(written: ComboConfig, found: FoundTag[], links: string[]): string[] {
  const named = new Set(combo.inputs(written));
  const inputs = found.filter(({ tag_slug, category }) => named.has(tag_slug) || category === written.tag_category);
  const onLinks = Map.groupBy(
    inputs.filter(({ url }) => url !== ''),
    ({ url }) => url,
  );
  const wholeScan = written.match_scope !== 'url' || (inputs.length > 0 && onLinks.size === 0);
  if (wholeScan) return holds(written, inputs) ? [''] : [];
  const candidates = asksForPresence(written) ? onLinks.keys() : new Set(links).values();
  return candidates
    .filter((link) => holds(written, onLinks.get(link) ?? []))
    .take(MATCHES_PER_RULE_MAX)
    .toArray();
}

const asksForPresence = ({ all_of, any_of, tag_category }: ComboConfig): boolean =>
  [all_of, any_of, tag_category].some((condition) => condition !== undefined);

function holds(written: ComboConfig, inputs: FoundTag[]): boolean {
  const { all_of = [], any_of, any_of_min = 1, none_of = [], tag_category, count_gte = 1 } = written;
  const slugs = new Set(inputs.map(({ tag_slug }) => tag_slug));
  const count = (wanted: string[]) => new Set(wanted.filter((slug) => slugs.has(slug))).size;
  const inCategory = new Set(
    inputs.filter(({ category }) => category === tag_category).map(({ tag_slug }) => tag_slug),
  );
  return (
    all_of.every((slug) => slugs.has(slug)) &&
    (any_of === undefined || count(any_of) >= any_of_min) &&
    count(none_of) === 0 &&
    (tag_category === undefined || inCategory.size >= count_gte)
  );
}
