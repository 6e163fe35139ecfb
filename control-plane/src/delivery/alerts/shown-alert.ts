import { inService, isOperatorsTag, type Tags } from '../../reference/tags/tag-definitions.ts';
import type { AlertRecord } from './alert.ts';

/** What names the finding of an alert; `matched_value` explains it. */
export type ShownTag = Pick<AlertRecord, 'tag_slug' | 'tag_display_name' | 'matched_value'>;

const HIDDEN: ShownTag = { tag_slug: 'hidden', tag_display_name: 'Hidden tag', matched_value: null };

/**
 * The tag of an alert for a viewer with these definitions: organizations do not see which of the operator's tags it is.
 * Pure.
 */
export function shownTag(alert: AlertRecord, tags: Tags, isOperator: boolean): ShownTag {
  const { rule_type, tag_slug, tag_display_name, matched_value } = alert;
  const tag = rule_type === 'tag' ? tags.get(tag_slug) : undefined;
  return tag && isOperatorsTag(tag) && !isOperator ? HIDDEN : { tag_slug, tag_display_name, matched_value };
}

/**
 * The slugs of a filter that can match something: not those of archived, unknown and invisible tags. Keys of other
 * entries stay.
 */
export const searchableTags = (slugs: string[], tags: Tags, isOperator: boolean): string[] =>
  slugs.filter((slug) => {
    const tag = inService(tags, slug);
    return slug.includes(':') || (tag !== null && (isOperator || !isOperatorsTag(tag)));
  });
