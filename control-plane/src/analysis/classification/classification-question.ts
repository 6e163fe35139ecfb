import { type Static, Type } from 'typebox';
import type { Classification } from '../../scanning/scans/state/scan.ts';
import type { Question } from '../model/question.ts';
import { AI_CATEGORIES } from './ai-categories.ts';
import { IAB_CATEGORIES, iabTiers, tiersOf } from './iab-taxonomy.ts';

/** What a model says of a scan. */
export type ModelClassification = Pick<Classification, 'ai_category' | 'iab_v3'>;

const SUBCATEGORY_LENGTH_MAX = 100;

const StringOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const AnswerSchema = Type.Object(
  {
    ai_category: Type.Enum([...AI_CATEGORIES], { type: 'string', description: 'What is advertised.' }),
    ai_subcategory: StringOrNull('The kind of it in one to four English words; null where there is nothing to add.'),
    iab_id: StringOrNull('The id of the deepest category of the list that fits; null where none does.'),
  },
  { additionalProperties: false },
);

/** The taxonomy as the model reads it: `id path`, one in a line. */
const IAB_LIST = IAB_CATEGORIES.map(({ id, path }) => `${id} ${path.join(' > ')}`).join('\n');

const TASK = `Classify what the first page leads visitors to, or where there is no page, what the creative advertises.
ai_category and ai_subcategory: what is advertised, whatever it pretends to be.
iab_id: one id of this list (IAB Content Taxonomy 3.0), copied exactly:
${IAB_LIST}`;

/** Asks for the categories of a scan. An id that the taxonomy does not have makes an answer unusable: names come from the taxonomy alone. */
export const classificationQuestion: Question<ModelClassification> = {
  name: 'classification',
  task: TASK,
  schema: AnswerSchema,
  read: (answer) => {
    const { ai_category, ai_subcategory, iab_id } = answer as Static<typeof AnswerSchema>;
    const iab_v3 = iab_id === null ? null : iabTiers(iab_id);
    if (iab_id !== null && iab_v3 === null) return null;
    const kind = readable(ai_subcategory ?? '');
    return { ai_category: tiersOf(kind === '' ? [ai_category] : [ai_category, kind]), iab_v3 };
  },
};

/** A name as it may stand in a path: on one line, without the sign between tiers. */
const readable = (name: string): string =>
  name
    .replaceAll(/[\p{C}\s/]+/gu, ' ')
    .trim()
    .slice(0, SUBCATEGORY_LENGTH_MAX)
    .toWellFormed();
