import { LABEL_VALUE_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Label } from '../../accounts/organizations/organization.ts';
import type { Classification } from '../../scan/scan.ts';
import type { Question } from '../model/question.ts';
import type { TaxonomyRecord } from '../taxonomies/taxonomy.ts';
import { AI_CATEGORIES } from './ai-categories.ts';
import { IAB_CATEGORIES, iabTiers, tiersOf } from './iab-taxonomy.ts';
import { type OfferedTaxonomy, offerTaxonomy } from './offer-taxonomy.ts';

/** Where a model sorts a scan. */
export type ModelClassification = Omit<Classification, 'brand'>;

/** What a model says of a scan: `labels` by key, without those that it found no value for. */
export type ModelAnswer = { classification: ModelClassification; labels: Record<string, string> };

const SUBCATEGORY_LENGTH_MAX = 100;

const StringOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const categories = {
  ai_category: Type.Enum([...AI_CATEGORIES], { type: 'string', description: 'What is advertised.' }),
  ai_subcategory: StringOrNull('The kind of it in one to four English words; null where there is nothing to add.'),
  iab_id: StringOrNull('The id of the deepest category of the list that fits; null where none does.'),
};
const AnswerSchema = Type.Object(categories, { additionalProperties: false });
type Values = Record<string, string | null>;
type Answer = Static<typeof AnswerSchema> & { custom?: Values; labels?: Values };

/** The taxonomy as the model reads it: `id path`, one in a line. */
const IAB_LIST = IAB_CATEGORIES.map(({ id, path }) => `${id} ${path.join(' > ')}`).join('\n');

const TASK = `Classify what the first page leads visitors to, or where there is no page, what the creative advertises.
ai_category and ai_subcategory: what is advertised, whatever it pretends to be.
iab_id: one id of this list (IAB Content Taxonomy 3.0), copied exactly:
${IAB_LIST}`;

/**
 * Asks for the categories of a scan, for its place in each of the client's taxonomies, and for the values of its labels. An id that a
 * taxonomy does not have makes an answer unusable: names come from the taxonomies alone.
 */
export function classificationQuestion(taxonomies: TaxonomyRecord[], labels: Label[] = []): Question<ModelAnswer> {
  const own = taxonomies.filter(({ nodes }) => nodes.length > 0).map(offerTaxonomy);
  const tasks = [TASK, ...own.map(({ task }) => task), ...(labels.length > 0 ? [labelTask(labels)] : [])];
  return {
    name: 'classification',
    task: tasks.join('\n\n'),
    schema: schemaFor(own, labels),
    read: (answer) => {
      const { ai_category, ai_subcategory, iab_id, custom = {}, labels: values = {} } = answer as Answer;
      const iab_v3 = iab_id === null ? null : iabTiers(iab_id);
      const places = own.map(({ key, place }) => place(custom[key] ?? null));
      if ((iab_id !== null && iab_v3 === null) || places.includes(null)) return null;
      const kind = readable(ai_subcategory ?? '');
      const category = tiersOf(kind === '' ? [ai_category] : [ai_category, kind]);
      const custom_taxonomies = places.filter((place) => place !== null);
      return { classification: { ai_category: category, iab_v3, custom_taxonomies }, labels: readLabels(values) };
    },
  };
}

function schemaFor(own: OfferedTaxonomy[], labels: Label[]): TObject {
  const places = own.map(({ key }) => [key, StringOrNull('An id of its list; null: none fits.')] as const);
  const values = labels.map(
    ({ key }) => [key, StringOrNull('Its value; null where the evidence does not tell.')] as const,
  );
  const closed = (fields: (readonly [string, TSchema])[]) =>
    Type.Object(Object.fromEntries(fields), { additionalProperties: false });
  return closed([
    ...Object.entries(categories),
    ...(places.length > 0 ? [['custom', closed(places)] as const] : []),
    ...(values.length > 0 ? [['labels', closed(values)] as const] : []),
  ]);
}

/** A label is offered by the name that the client gave it. */
const labelTask = (labels: Label[]): string =>
  `labels: the value of each of the client's labels as the evidence states it, in a few words; null where it does not tell:\n${labels
    .map(({ key, display_name }) => `${key}: ${JSON.stringify(display_name)}`)
    .join('\n')}`;

function readLabels(values: Values): Record<string, string> {
  const read = Object.entries(values).map(([key, value]) => [key, onOneLine(value ?? '', LABEL_VALUE_LENGTH_MAX)]);
  return Object.fromEntries(read.filter(([, value]) => value !== ''));
}

/** A name as it may stand in a path: without the sign between tiers. */
const readable = (name: string): string => onOneLine(name.replaceAll('/', ' '), SUBCATEGORY_LENGTH_MAX);

const onOneLine = (text: string, lengthMax: number): string =>
  text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, lengthMax)
    .toWellFormed();
