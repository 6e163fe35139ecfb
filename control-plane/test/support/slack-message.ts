import { type TSchema, Type } from 'typebox';

/**
 * Messages of incoming webhooks as far as we use their blocks, with the limits of Slack's reference
 * (docs.slack.dev/reference/block-kit). Slack does not say how it counts characters: here they are UTF-16 units, of
 * which no other way counts more.
 */
const only = { additionalProperties: false };
const plainText = (maxLength: number) =>
  Type.Object(
    {
      type: Type.Literal('plain_text'),
      text: Type.String({ minLength: 1, maxLength }),
      emoji: Type.Optional(Type.Boolean()),
    },
    only,
  );
const markdown = (maxLength: number) =>
  Type.Object(
    {
      type: Type.Literal('mrkdwn'),
      text: Type.String({ minLength: 1, maxLength }),
      verbatim: Type.Optional(Type.Boolean()),
    },
    only,
  );
const eitherText = (maxLength: number) => Type.Union([plainText(maxLength), markdown(maxLength)]);
const block = { block_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })) };

const Header = Type.Object({ type: Type.Literal('header'), text: plainText(150), ...block }, only);
const sectionWith = (of: Record<string, TSchema>) =>
  Type.Object({ type: Type.Literal('section'), ...of, ...block }, only);
const Section = Type.Union([
  sectionWith({ text: eitherText(3_000) }),
  sectionWith({ fields: Type.Array(eitherText(2_000), { minItems: 1, maxItems: 10 }) }),
]);
const Image = Type.Object(
  {
    type: Type.Literal('image'),
    image_url: Type.String({ pattern: '^https?://', maxLength: 3_000 }),
    alt_text: Type.String({ minLength: 1, maxLength: 2_000 }),
    title: Type.Optional(plainText(2_000)),
    ...block,
  },
  only,
);
const Context = Type.Object(
  { type: Type.Literal('context'), elements: Type.Array(eitherText(3_000), { minItems: 1, maxItems: 10 }), ...block },
  only,
);

export const SlackMessageSchema = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 40_000 }),
    blocks: Type.Array(Type.Union([Header, Section, Image, Context]), { minItems: 1, maxItems: 50 }),
  },
  only,
);
