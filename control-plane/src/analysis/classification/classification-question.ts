import { type Static, Type } from 'typebox';
import type { Classification } from '../../scanning/scans/state/scan.ts';
import type { Question } from '../model/question.ts';
import type { TaxonomyRecord } from '../taxonomies/taxonomy.ts';
import { AI_CATEGORIES } from './ai-categories.ts';
import { IAB_CATEGORIES, iabTiers, tiersOf } from './iab-taxonomy.ts';
import { offerTaxonomy } from './offer-taxonomy.ts';

/** What a model says of a scan. */
export type ModelClassification = Omit<Classification, 'brand'>;

const SUBCATEGORY_LENGTH_MAX = 100;

const StringOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const categories = {
  ai_category: Type.Enum([...AI_CATEGORIES], { type: 'string', description: 'What is advertised.' }),
  ai_subcategory: StringOrNull('The kind of it in one to four English words; null where there is nothing to add.'),
  iab_id: StringOrNull('The id of the deepest category of the list that fits; null where none does.'),
};
const AnswerSchema = Type.Object(categories, { additionalProperties: false });
type Answer = Static<typeof AnswerSchema> & { custom?: Record<string, string | null> };

/** The taxonomy as the model reads it: `id path`, one in a line. */
const IAB_LIST = IAB_CATEGORIES.map(({ id, path }) => `${id} ${path.join(' > ')}`).join('\n');

const TASK = `Classify what the first page leads visitors to, or where there is no page, what the creative advertises.
ai_category and ai_subcategory: what is advertised, whatever it pretends to be.
iab_id: one id of this list (IAB Content Taxonomy 3.0), copied exactly:
${IAB_LIST}`;

/**
 * Asks for the categories of a scan, and for its place in each of the client's taxonomies. An id that a taxonomy does not have makes an
 * answer unusable: names come from the taxonomies alone.
 */
export function classificationQuestion(taxonomies: TaxonomyRecord[]): Question<ModelClassification> {
  const own = taxonomies.filter(({ nodes }) => nodes.length > 0).map(offerTaxonomy);
  const custom = Object.fromEntries(own.map(({ key }) => [key, StringOrNull('An id of its list; null: none fits.')]));
  const Custom = Type.Object(custom, { additionalProperties: false });
  return {
    name: 'classification',
    task: [TASK, ...own.map(({ task }) => task)].join('\n\n'),
    schema:
      own.length === 0 ? AnswerSchema : Type.Object({ ...categories, custom: Custom }, { additionalProperties: false }),
    read: (answer) => {
      const { ai_category, ai_subcategory, iab_id, custom = {} } = answer as Answer;
      const iab_v3 = iab_id === null ? null : iabTiers(iab_id);
      const places = own.map(({ key, place }) => place(custom[key] ?? null));
      if ((iab_id !== null && iab_v3 === null) || places.includes(null)) return null;
      const kind = readable(ai_subcategory ?? '');
      const category = tiersOf(kind === '' ? [ai_category] : [ai_category, kind]);
      return { ai_category: category, iab_v3, custom_taxonomies: places.filter((place) => place !== null) };
    },
  };
}

/** A name as it may stand in a path: on one line, without the sign between tiers. */
const readable = (name: string): string =>
  name
    .replaceAll(/[\p{C}\s/]+/gu, ' ')
    .trim()
    .slice(0, SUBCATEGORY_LENGTH_MAX)
    .toWellFormed();
