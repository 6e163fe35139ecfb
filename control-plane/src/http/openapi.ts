import { type TSchema, Type } from 'typebox';
import { PERMISSIONS } from './caller.ts';
import { ERRORS, type ErrorCode } from './errors.ts';
import { operationId } from './operation-id.ts';
import type { Route } from './route.ts';

/** The 422 body (spec 2.4), declared in the document as `ValidationError`. */
const ValidationErrorSchema = Type.Object(
  {
    detail: Type.Array(
      Type.Object({
        loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), { description: 'Path of the refused field.' }),
        msg: Type.String(),
        type: Type.String(),
        ctx: Type.Object(
          {
            given: Type.Optional(Type.Unknown({ description: 'The refused value.' })),
            country_codes: Type.Optional(Type.Array(Type.String())),
            valid_sample: Type.Optional(
              Type.Array(Type.String(), { description: 'Up to five accepted values, closest first.' }),
            ),
            valid_total: Type.Optional(Type.Integer({ description: 'Number of accepted values.' })),
          },
          { additionalProperties: true },
        ),
      }),
    ),
    code: Type.String(),
  },
  { title: 'ValidationError' },
);

const ErrorSchema = Type.Object({ detail: Type.String(), code: Type.String() }, { title: 'Error' });

/** A message that the service sends to its clients' servers. `schema`, `sample`: of its body. */
type Message = { name: string; group: string; description: string; schema: TSchema; sample: unknown };

/** General information about the API; `groups` describes each group of operations. */
type ApiInfo = {
  title: string;
  version: string;
  description: string;
  publicUrl: string;
  groups: Record<string, string>;
  messages: Message[];
};
type Json = Record<string, unknown>;

/** Components that several operations refer to, by name. */
type Components = { schemas: Json; responses: Json };

/** The errors of every operation. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'bad_request',
  'request_timeout',
  'url_too_long',
  'headers_too_large',
  'internal_error',
  'unavailable',
];

/** The OpenAPI 3.1 document of these routes. Schemas with a `title` become components. */
export function openapi(routes: Route<never>[], about: ApiInfo): Json {
  const { title, version, description, publicUrl, groups, messages } = about;
  const components: Components = { schemas: {}, responses: {} };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = operation(route, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description,
      contact: { name: 'The operator', url: publicUrl },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: [...new Set(routes.map(({ group }) => group))].map((name) => ({ name, description: groups[name] ?? '' })),
    security: [{ apiKey: [] }, { oauth2: [] }],
    paths,
    webhooks: Object.fromEntries(messages.map((one) => [one.name, { post: delivery(one, components) }])),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of your organization.' },
        oauth2: oauthScheme(publicUrl),
      },
      ...components,
    },
  };
}

function operation(route: Route<never>, components: Components): Json {
  const { schemas } = components;
  const needs = ['none', 'any'].includes(route.permission) ? '' : `Needs the permission \`${route.permission}\`.`;
  return {
    tags: [route.group],
    summary: route.summary,
    description: [route.description, needs].filter((text) => text !== '').join('\n\n'),
    operationId: operationId(route),
    security: securityOf(route),
    parameters: [
      ...parameters(route.params, 'path', schemas),
      ...parameters(route.query, 'query', schemas),
      ...(route.headers ? parameters(route.headers, 'header', schemas) : []),
    ],
    ...(route.body ? { requestBody: { required: !route.bodyIsOptional, content: json(route.body, schemas) } } : {}),
    responses: { ...replies(route, schemas), ...refusals(route, components) },
  };
}

/** The headers of Standard Webhooks. */
const DELIVERY_HEADERS = {
  'webhook-id': 'The id of the event: an event that is sent again has the same.',
  'webhook-timestamp': 'When it was sent, in seconds of Unix time.',
  'webhook-signature':
    'Signatures, separated by spaces: `v1,` and the base64 of an HMAC-SHA256 of id, timestamp and body.',
};

function delivery({ name, group, description, schema, sample }: Message, { schemas }: Components): Json {
  const parameters = Object.entries(DELIVERY_HEADERS).map(([header, text]) => ({
    name: header,
    in: 'header',
    required: true,
    description: text,
    schema: { type: 'string' },
  }));
  const content = { 'application/json': { schema: lift(schema, schemas), example: sample } };
  return {
    tags: [group],
    summary: name,
    description,
    operationId: messageId(name),
    security: [],
    parameters,
    requestBody: { required: true, content },
    responses: { '2XX': { description: 'The event is taken. Any other answer lets it be sent again.' } },
  };
}

/** `scanning.scan.completed` is `onScanningScanCompleted`. */
const messageId = (name: string): string =>
  `on${name
    .split('.')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')}`;

/** A key or a token; a token needs the scope that has the permission's name. */
function securityOf({ permission }: Route<never>): Json[] {
  if (permission === 'none') return [];
  return [{ apiKey: [] }, { oauth2: permission === 'any' ? [] : [permission] }];
}

function oauthScheme(publicUrl: string): Json {
  const scopes = Object.fromEntries(PERMISSIONS.map((one) => [one, `The permission \`${one}\`.`]));
  const tokens = { tokenUrl: `${publicUrl}/oauth/token`, refreshUrl: `${publicUrl}/oauth/token`, scopes };
  return {
    type: 'oauth2',
    description:
      'OAuth 2.0 with a client of your organization; its metadata is at `/.well-known/oauth-authorization-server`.',
    flows: {
      clientCredentials: tokens,
      authorizationCode: { authorizationUrl: `${publicUrl}/oauth/authorize`, ...tokens },
    },
  };
}

function parameters(schema: Route['params'], location: 'path' | 'query' | 'header', schemas: Json): Json[] {
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description = '' } = property as { description?: string };
    return { name, in: location, required: required.has(name), description, schema: lift(property, schemas) };
  });
}

function replies(route: Route<never>, schemas: Json): Json {
  const entries = Object.entries(route.replies).map(([status, { description, schema, content }]) => {
    if (content) return [status, { description, content: { [content]: mediaType(content) } }];
    return [status, schema ? { description, content: json(schema, schemas) } : { description }];
  });
  return Object.fromEntries(entries);
}

/** An event stream has no schema: it never ends. A text is a string, everything else is bytes. */
function mediaType(content: string): Json {
  if (content === 'text/event-stream') return {};
  return { schema: content.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' } };
}

/** The errors of an operation: those that the route lists, and those that follow from its definition. */
function refusalsOf(route: Route<never>): ErrorCode[] {
  return [
    ...(route.permission === 'none' ? [] : (['unauthorized', 'rate_limited'] as const)),
    ...(['none', 'any'].includes(route.permission) ? [] : (['forbidden'] as const)),
    // Every operation refuses unknown query parameters.
    'validation_error',
    ...(route.body ? (['request_too_large', 'unsupported_media_type'] as const) : []),
    ...route.errors,
    ...COMMON_ERRORS,
  ];
}

/**
 * The error responses by status. The only error of a status becomes a shared component, because many operations have
 * the same one.
 */
function refusals(route: Route<never>, { schemas, responses }: Components): Json {
  const byStatus = Map.groupBy(refusalsOf(route), (code) => ERRORS[code].status);
  const entries = [...byStatus].map(([status, codes]) => {
    const [code, ...others] = codes;
    if (others.length > 0) return [status, refusal(codes, schemas)];
    responses[code!] ??= refusal(codes, schemas);
    return [status, { $ref: `#/components/responses/${code}` }];
  });
  return Object.fromEntries(entries);
}

function refusal(codes: ErrorCode[], schemas: Json): Json {
  const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].means}`).join('\n\n');
  const schema = ERRORS[codes[0]!].detail === 'items' ? ValidationErrorSchema : ErrorSchema;
  return { description, content: json(schema, schemas) };
}

function json(schema: TSchema, schemas: Json): Json {
  return { 'application/json': { schema: lift(schema, schemas) } };
}

/** The schema as plain JSON; subschemas with a title are moved to `schemas` and replaced by references. */
function lift(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => lift(item, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $defs, $id: _, ...named } = schema as Json & { $defs?: Json };
  // `title` can also be the name of a property, whose value is a schema.
  const title = typeof named.title === 'string' ? named.title : null;
  const { title: __, ...untitled } = named;
  const rest: Json = title === null ? named : untitled;
  for (const [name, definition] of Object.entries($defs ?? {})) schemas[name] ??= lift(definition, schemas);
  if (typeof rest.$ref === 'string') return { $ref: `#/components/schemas/${rest.$ref}` };
  const own = () => Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, lift(value, schemas)]));
  if (title === null) return own();
  schemas[title] ??= own();
  return { $ref: `#/components/schemas/${title}` };
}
