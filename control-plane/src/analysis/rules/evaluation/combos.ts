import type { Finding } from '../../detectors/finding.ts';
import type { ComboConfig } from '../rule.ts';

/** A tag that was found, with what combos ask of it. */
export type FoundTag = Pick<Finding, 'tag_slug' | 'url'> & { category: string };

/** The slugs that a combo refers to. */
export const slugsOf = ({ all_of = [], any_of = [], none_of = [] }: ComboConfig): string[] => [
  ...all_of,
  ...any_of,
  ...none_of,
];

/**
 * Where a combo holds (spec 2.6): [''] = on the whole scan, else the links on each of which all conditions hold together; [] nowhere.
 * `links` are all links of the scan, for combos that ask only for what is absent. Inputs that belong to no link keep a combo on the
 * whole scan.
 */
export function matchCombo(config: ComboConfig, found: FoundTag[], links: string[]): string[] {
  const inputs = found.filter((tag) => isInput(config, tag));
  const onLinks = inputs.filter(({ url }) => url !== '');
  const wholeScan = config.match_scope !== 'url' || (inputs.length > 0 && onLinks.length === 0);
  if (wholeScan) return holds(config, inputs) ? [''] : [];
  const asked = asksForPresence(config) ? onLinks.map(({ url }) => url) : links;
  return [...new Set(asked)].filter((link) =>
    holds(
      config,
      onLinks.filter(({ url }) => url === link),
    ),
  );
}

function isInput(config: ComboConfig, { tag_slug, category }: FoundTag): boolean {
  return slugsOf(config).includes(tag_slug) || category === config.tag_category;
}

const asksForPresence = ({ all_of, any_of, tag_category }: ComboConfig): boolean =>
  [all_of, any_of, tag_category].some((condition) => condition !== undefined);

function holds(config: ComboConfig, inputs: FoundTag[]): boolean {
  const { all_of = [], any_of, any_of_min = 1, none_of = [], tag_category, count_gte = 1 } = config;
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
