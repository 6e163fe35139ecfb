import { type Static, Type } from 'typebox';
import { moment, orNull } from '../../http/route.ts';

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
const Description = Type.String({ maxLength: 500 });

const NodeInSchema = Type.Object(
  {
    client_id: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'By which other nodes of the request name it.',
    }),
    parent_client_id: Type.Optional(orNull(Type.String({ maxLength: 100 }))),
    name: Name,
    description: Type.Optional(Type.String({ maxLength: 200, default: '', description: 'When it is to be chosen.' })),
    is_default: Type.Optional(
      Type.Boolean({ default: false, description: 'Chosen where no other fits; one node at the most.' }),
    ),
  },
  { additionalProperties: false, title: 'TaxonomyNodeIn' },
);
export type NodeIn = Static<typeof NodeInSchema>;
const Nodes = Type.Array(NodeInSchema, { maxItems: 300 });

export const TaxonomyInSchema = Type.Object(
  {
    name: Name,
    description: Type.Optional({ ...Description, default: '' }),
    nodes: Type.Optional({ ...Nodes, default: [] }),
  },
  {
    additionalProperties: false,
    title: 'TaxonomyIn',
    examples: [
      {
        name: 'Our verticals',
        nodes: [
          { client_id: '1', name: 'Gambling' },
          { client_id: '2', parent_client_id: '1', name: 'Casino' },
          { client_id: '3', name: 'Other', is_default: true },
        ],
      },
    ],
  },
);

/** What is absent stays as it is; `nodes` is replaced as a whole. */
export const TaxonomyPutSchema = Type.Object(
  { name: Type.Optional(Name), description: Type.Optional(Description), nodes: Type.Optional(Nodes) },
  { additionalProperties: false, title: 'TaxonomyPut' },
);

const words = {
  id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  description: Type.String(),
  is_active: Type.Boolean(),
  version: Type.Integer({ description: 'Goes up with each tree.' }),
};

export const TaxonomyItemSchema = Type.Object(
  { ...words, node_count: Type.Integer(), created_at: moment(), updated_at: moment() },
  { title: 'TaxonomyItem' },
);

export const TaxonomySchema = Type.Object(
  {
    ...words,
    organization_id: Type.String(),
    nodes: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          parent_id: orNull(Type.String()),
          level: Type.Integer({ description: '1 is the broadest.' }),
          position: Type.Integer({ description: 'Among its siblings, from 0.' }),
          name: Type.String(),
          description: Type.String(),
          is_default: Type.Boolean(),
        },
        { title: 'TaxonomyNode' },
      ),
    ),
    created_at: moment(),
    updated_at: moment(),
  },
  { title: 'Taxonomy' },
);

export const TaxonomyTextSchema = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: 50_000 }) },
  { additionalProperties: false, title: 'TaxonomyText' },
);

export const ParsedTaxonomySchema = Type.Object(
  {
    nodes: Type.Array(
      Type.Object(
        { level: Type.Integer(), name: Type.String(), description: Type.String() },
        { title: 'ParsedTaxonomyNode' },
      ),
    ),
    warnings: Type.Array(Type.String()),
  },
  { title: 'ParsedTaxonomy' },
);
