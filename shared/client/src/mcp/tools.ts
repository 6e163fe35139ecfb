import { OPERATIONS } from '../generated/operations.ts';
import type { OperationId } from '../methods.ts';

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document and JSON schemas, which are read by their paths
type Json = any;

/** Where an argument of a tool goes. */
export type Place = 'path' | 'query' | 'body';

/** An operation as a tool, as MCP lists it, with the places of its arguments. */
export type Tool = {
  listed: {
    name: OperationId;
    title: string;
    description: string;
    inputSchema: { type: 'object'; properties: Record<string, object>; required?: string[] };
    annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
  };
  group: string;
  places: Record<string, Place>;
  /** Whether the whole body is one argument, `body`. */
  hasWholeBody: boolean;
};

/** The tools that a server offers: of which groups of operations, and whether only those that change nothing. */
export type Choice = { groups: string[]; readOnly: boolean };

/** Operations that can wait until their work has ended, for at most this many seconds. */
export const WAITING: ReadonlySet<OperationId> = new Set<OperationId>(['getScan', 'getRun', 'getScanEvents']);
export const WAIT_SECONDS_MAX = 600;

/** Rows of a page that a tool asks for: more could not be shown, and a page of the largest ones has megabytes. */
export const PAGE_ROWS_MAX = 50;

const WAIT: Json = {
  type: 'integer',
  minimum: 0,
  maximum: WAIT_SECONDS_MAX,
  default: 0,
  description: 'Waits up to this many seconds until it has ended, and reports progress meanwhile. 0: answers at once.',
};

const KEY: Json = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description:
    'Repeat a call whose answer was lost with the same text as before: within 24 hours it is done and charged once.',
};

/** A tool for each operation of an OpenAPI document that this client knows, in the document's order. Pure. */
export function toolsOf(document: Json): Tool[] {
  return Object.values<Json>(document.paths).flatMap((methods) =>
    Object.entries<Json>(methods)
      .filter(([, { operationId }]) => Object.hasOwn(OPERATIONS, operationId))
      .map(([method, operation]) => toolOf(method, operation, document.components.schemas)),
  );
}

/** Throws for a group that no tool is in. */
export function chosen(tools: Tool[], { groups, readOnly }: Choice): Tool[] {
  const known = new Set(tools.map(({ group }) => group));
  const unknown = groups.find((group) => !known.has(group));
  if (unknown !== undefined) throw new RangeError(`no such group: ${unknown}; there are ${[...known].join(', ')}`);
  return tools
    .filter(({ group }) => groups.length === 0 || groups.includes(group))
    .filter(({ listed }) => !readOnly || listed.annotations.readOnlyHint);
}

function toolOf(method: string, operation: Json, schemas: Json): Tool {
  const { operationId: name, summary: title, description, tags } = operation;
  const { properties, required, places, hasWholeBody } = argumentsOf(operation, schemas);
  if (WAITING.has(name))
    properties.wait_seconds = name === 'getScanEvents' ? { ...WAIT, default: WAIT_SECONDS_MAX } : WAIT;
  if (isKeyed(name)) properties.idempotency_key = KEY;
  const definitions = definitionsFor(properties, schemas);
  const inputSchema = inTool({
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
    ...(takesLabels(places) && { patternProperties: { '^label_': { type: 'string' } } }),
  });
  const listed = { name, title, description: `${title}. ${description}`, inputSchema };
  return { listed: { ...listed, annotations: hintsOf(method, operation) }, group: tags[0], places, hasWholeBody };
}

/** Operations that run once for each `idempotency_key`. */
export const isKeyed = (name: OperationId): boolean => OPERATIONS[name].keyed;

/** Lists of scans take `label_<key>` besides their named parameters. */
export const takesLabels = (places: Record<string, Place>): boolean => places.repeat_leader_id === 'query';

/** Lists take a `page`, and the rows of one as `limit`. */
export const hasPages = (places: Record<string, Place>): boolean => places.page === 'query' && places.limit === 'query';

function argumentsOf({ parameters, requestBody }: Json, schemas: Json) {
  const named = parameters.filter((one: Json) => one.in !== 'header');
  const properties: Record<string, Json> = {};
  const places: Record<string, Place> = {};
  for (const { name, in: place, description, schema } of named) {
    properties[name] = description ? { description, ...schema } : schema;
    places[name] = place;
  }
  if (hasPages(places)) properties.limit = { ...properties.limit, maximum: PAGE_ROWS_MAX };
  const required: string[] = named.filter((one: Json) => one.required).map((one: Json) => one.name);
  const body = requestBody?.content['application/json'].schema;
  if (body === undefined) return { properties, places, required, hasWholeBody: false };
  const fields = resolved(body, schemas);
  const names = Object.keys(fields.properties ?? {});
  const isPlain = fields.type === 'object' && names.length > 0 && !names.some((name) => name in places);
  if (!isPlain) {
    properties.body = body;
    if (requestBody.required) required.push('body');
    return { properties, places: { ...places, body: 'body' as const }, required, hasWholeBody: true };
  }
  for (const name of names) places[name] = 'body';
  if (requestBody.required) required.push(...(fields.required ?? []));
  return { properties: { ...properties, ...fields.properties }, places, required, hasWholeBody: false };
}

const COMPONENT = '#/components/schemas/';

const resolved = (schema: Json, schemas: Json): Json =>
  typeof schema.$ref === 'string' ? resolved(schemas[schema.$ref.slice(COMPONENT.length)], schemas) : schema;

/** The components that a value refers to, and those that they refer to. */
function definitionsFor(value: Json, schemas: Json): Record<string, Json> {
  const found: Record<string, Json> = {};
  const open: Json[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const name = typeof one.$ref === 'string' ? one.$ref.slice(COMPONENT.length) : null;
    if (name !== null && !(name in found)) {
      found[name] = schemas[name];
      open.push(schemas[name]);
    }
    open.push(...Object.values(one));
  }
  return found;
}

/** The schema with its references to components turned to its own definitions. */
function inTool(value: Json): Json {
  if (Array.isArray(value)) return value.map(inTool);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries<Json>(value).map(([key, one]) => {
    const isReference = key === '$ref' && typeof one === 'string';
    return [key, isReference ? one.replace(COMPONENT, '#/$defs/') : inTool(one)];
  });
  return Object.fromEntries(entries);
}

/**
 * Reading is a GET, or a POST that needs a permission to read. What creates something (201) only adds; all else changes or removes what is there.
 * All answers can contain what was found on the open web.
 */
function hintsOf(method: string, { security = [], responses }: Json) {
  const scopes: string[] = security.flatMap((one: Json) => one.oauth2 ?? []);
  const readOnly = method === 'get' || (scopes.length > 0 && scopes.every((scope) => scope.endsWith('.read')));
  return {
    readOnlyHint: readOnly,
    destructiveHint: !readOnly && !('201' in responses),
    idempotentHint: method !== 'post',
    openWorldHint: true,
  };
}
