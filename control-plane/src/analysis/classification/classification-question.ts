import { LABEL_VALUE_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Label } from '../../accounts/organizations/organization.ts';
import type { Classification, ScanTaxonomy } from '../../scan/scan.ts';
import type { Question } from '../model/question.ts';
import { pathTo, type TaxonomyNode, type TaxonomyRecord } from '../taxonomies/taxonomy.ts';
import { AI_CATEGORIES, IAB_CATEGORIES, iabTiers, tiersOf } from './categories.ts';

/** The classification of a scan by a model. */
export type ModelClassification = Omit<Classification, 'brand'>;

/** A model's answer about a scan: `labels` by key, without those that it found no value for. */
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

/** The taxonomy in the question: one `id path` per line. */
const IAB_LIST = IAB_CATEGORIES.map(({ id, path }) => `${id} ${path.join(' > ')}`).join('\n');

const TASK = `Classify what the first page leads visitors to, or where there is no page, what the creative advertises.
ai_category and ai_subcategory: what is advertised, whatever it pretends to be.
iab_id: one id of this list (IAB Content Taxonomy 3.0), copied exactly:
${IAB_LIST}`;

/**
 * Asks for the categories of a scan, its node in each of the client's taxonomies, and the values of its labels. An
 * answer with an unknown id is unusable: names come only from the taxonomies.
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
      const nodes = own.map(({ key, classifyAs }) => classifyAs(custom[key] ?? null));
      if ((iab_id !== null && iab_v3 === null) || nodes.includes(null)) return null;
      const kind = readable(ai_subcategory ?? '');
      const category = tiersOf(kind === '' ? [ai_category] : [ai_category, kind]);
      const custom_taxonomies = nodes.filter((node) => node !== null);
      return { classification: { ai_category: category, iab_v3, custom_taxonomies }, labels: readLabels(values) };
    },
  };
}

function schemaFor(own: OfferedTaxonomy[], labels: Label[]): TObject {
  const nodes = own.map(({ key }) => [key, StringOrNull('An id of its list; null: none fits.')] as const);
  const values = labels.map(
    ({ key }) => [key, StringOrNull('Its value; null where the evidence does not tell.')] as const,
  );
  const closed = (fields: (readonly [string, TSchema])[]) =>
    Type.Object(Object.fromEntries(fields), { additionalProperties: false });
  return closed([
    ...Object.entries(categories),
    ...(nodes.length > 0 ? [['custom', closed(nodes)] as const] : []),
    ...(values.length > 0 ? [['labels', closed(values)] as const] : []),
  ]);
}

/** Labels are offered by the names that the client gave them. */
const labelTask = (labels: Label[]): string =>
  `labels: the value of each of the client's labels as the evidence states it, in a few words; null where it does not tell:\n${labels
    .map(({ key, display_name }) => `${key}: ${JSON.stringify(display_name)}`)
    .join('\n')}`;

function readLabels(values: Values): Record<string, string> {
  const read = Object.entries(values).map(([key, value]) => [key, onOneLine(value ?? '', LABEL_VALUE_LENGTH_MAX)]);
  return Object.fromEntries(read.filter(([, value]) => value !== ''));
}

/** A name that can be a tier of a path: without the separator. */
const readable = (name: string): string => onOneLine(name.replaceAll('/', ' '), SUBCATEGORY_LENGTH_MAX);

const onOneLine = (text: string, lengthMax: number): string =>
  text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, lengthMax)
    .toWellFormed();

/**
 * A client's taxonomy as a question offers it: nodes have short ids, so that the list needs few tokens. `classifyAs`
 * turns the id of an answer (null: none fits, so the default node if there is one) into a classification; null: the
 * list has no such id.
 */
type OfferedTaxonomy = { key: string; task: string; classifyAs(id: string | null): ScanTaxonomy | null };

function offerTaxonomy(taxonomy: TaxonomyRecord, index: number): OfferedTaxonomy {
  const { name, description, nodes } = taxonomy;
  const [key, byId] = [`taxonomy_${index + 1}`, new Map(nodes.map((node, at) => [`n${at + 1}`, node]))];
  const lines = [...byId].map(([id, node]) => {
    const path = pathTo(nodes, node).join(' > ');
    return `${id} ${path}${node.description === '' ? '' : `: ${node.description}`}`;
  });
  const about = `${JSON.stringify(name)}${description === '' ? '' : ` (${description})`}`;
  return {
    key,
    task: `custom.${key}: one id of the client's list ${about}, the deepest that fits, copied exactly; null where none does:\n${lines.join('\n')}`,
    classifyAs: (id) => {
      if (id !== null) return byId.has(id) ? classified(taxonomy, byId.get(id)!, false) : null;
      return classified(taxonomy, nodes.find(({ is_default }) => is_default) ?? null, true);
    },
  };
}

function classified(
  { _id, name, slug, version, nodes }: TaxonomyRecord,
  node: TaxonomyNode | null,
  asDefault: boolean,
): ScanTaxonomy {
  const path = node ? pathTo(nodes, node) : [];
  return {
    taxonomy_id: _id,
    taxonomy_name: name,
    taxonomy_slug: slug,
    taxonomy_version: version,
    leaf_node_id: node?.id ?? null,
    tier1: path[0] ?? null,
    tier2: path[1] ?? null,
    tier3: path[2] ?? null,
    tier4: path[3] ?? null,
    used_default: asDefault && node !== null,
  };
}
