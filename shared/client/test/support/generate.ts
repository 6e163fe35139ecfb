import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import type { Json } from '../../../../control-plane/test/support/running-api.ts';

/** The folder of the generated files. */
export const GENERATED = new URL('../../src/generated/', import.meta.url);

/** The files of that folder with their texts, from the OpenAPI document of the API. */
export async function generate(document: Json): Promise<Record<string, string>> {
  const answered = withoutRefusals(document);
  // A field with a default may be omitted from a request.
  const types = astToString(await openapiTypescript(answered, { defaultNonNullable: false }));
  return { 'api.ts': `${COMMENT_HEADER}${types}`, 'operations.ts': operationsFile(answered) };
}

/** The document without error responses, which the client throws, and without the header that it sends by itself. */
function withoutRefusals(document: Json): Json {
  const { responses: _, ...components } = document.components;
  const paths = mapOperations(document.paths, ({ responses, parameters, ...operation }) => ({
    ...operation,
    parameters: parameters.filter((one: Json) => one.in !== 'header'),
    responses: Object.fromEntries(Object.entries(responses).filter(([status]) => status.startsWith('2'))),
    'x-keyed': parameters.some((one: Json) => one.name === 'Idempotency-Key'),
  }));
  return { ...document, paths, components: { ...components, schemas: withRecords(components.schemas) } };
}

function mapOperations(paths: Json, change: (operation: Json) => Json): Json {
  const ofPath = (methods: Json) =>
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, change(operation)]));
  return Object.fromEntries(Object.entries(paths).map(([path, methods]) => [path, ofPath(methods)]));
}

/** openapi-typescript knows `additionalProperties`; our maps of texts have `patternProperties` for any key. */
function withRecords(value: Json): Json {
  if (Array.isArray(value)) return value.map(withRecords);
  if (typeof value !== 'object' || value === null) return value;
  const { patternProperties, ...rest } = value;
  const own = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, withRecords(one)]));
  return patternProperties ? { ...own, additionalProperties: withRecords(Object.values(patternProperties)[0]) } : own;
}

function operationsFile(document: Json): string {
  const rows = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => row(path, method, operation)),
  );
  return `${COMMENT_HEADER}import type { Operation } from '../operation.ts';

export const OPERATIONS = {
${rows.join('\n')}
} as const satisfies Record<string, Operation>;
`;
}

function row(path: string, method: string, operation: Json): string {
  const query = operation.parameters.filter((one: Json) => one.in === 'query').map((one: Json) => one.name);
  const [content = null] = Object.values<Json>(operation.responses).flatMap((one) => Object.keys(one.content ?? {}));
  const entry = {
    ...{ method: method.toUpperCase(), path, group: operation.tags[0], summary: operation.summary },
    ...{ query, body: 'requestBody' in operation, keyed: operation['x-keyed'], answer: answerOf(content) },
  };
  return `  ${operation.operationId}: ${JSON.stringify(entry)},`;
}

/** How an answer of this media type is handed over; null: it has no body. */
function answerOf(content: string | null): string {
  if (content === null) return 'nothing';
  if (content === 'application/json') return 'json';
  if (content === 'text/event-stream') return 'events';
  return content.startsWith('text/') ? 'text' : 'blob';
}
