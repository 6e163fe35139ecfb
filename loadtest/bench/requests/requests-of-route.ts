import { API_BODY_BYTES_MAX, API_BODY_VALUES_MAX } from '@adsweep/shared/limits.ts';
import type { Route } from '../../../control-plane/src/http/route.ts';
import { worstBodies } from '../worst-bodies.ts';
import { largestValues, type Schema } from './largest-value.ts';

/** A request to an operation: the query without `?`, and the body as JSON. `isCommon`: clients send it every day. */
export type RouteRequest = { what: string; query: string; body?: string; isCommon?: true };

/** Values that lists answer with, by the name of their field: what filters and paths ask for. */
export type KnownValues = Record<string, string>;

/** A query has fewer bytes than a URL may have. */
const QUERY_BYTES = 20_000;
const API_BODY = { bytes: API_BODY_BYTES_MAX, values: API_BODY_VALUES_MAX };

type Schemas = { query: Schema; body: Schema | null };

/** The requests that make an operation work hardest: of its query, and of its body. */
export function requestsOf(route: Route<never>, known: KnownValues, lastPage: number): RouteRequest[] {
  const { query, body } = route as unknown as Schemas;
  if (!body) return queriesOf(query, known, lastPage);
  const bounds = route.bodyBounds ?? API_BODY;
  const field = Object.keys(body.properties ?? {}).at(-1) ?? 'a';
  const valid = { ...largestValues(body, bounds), ...largestExamples(body, bounds), ...exampleOf(body, known) };
  return [
    ...Object.entries(valid).map(([what, value]) => ({ what, query: '', body: JSON.stringify(value) })),
    ...Object.entries(worstBodies(bounds.bytes, field)).map(([what, text]) => ({ what, query: '', body: text })),
  ];
}

/** The example of a schema, with its own texts and lists as large as they may be: it meets rules that no schema has. */
function largestExamples({ examples = [], properties = {} }: Schema, bounds: { bytes: number; values: number }) {
  const [example] = examples;
  if (!example) return {};
  const own = Object.fromEntries(Object.keys(example).map((name) => [name, properties[name] ?? {}]));
  return Object.fromEntries(
    Object.keys(example).map((name) => {
      const largest = largestValues({ type: 'object', properties: { [name]: own[name]! } }, bounds)[
        'the longest texts'
      ];
      return [`the example with the largest ${name}`, { ...example, ...(largest as object) }];
    }),
  );
}

/** The example of a schema, about the largest scan and a campaign with many. */
function exampleOf({ examples = [], properties = {} }: Schema, known: KnownValues): Record<string, unknown> {
  if (!known.scan_id || !examples[0]) return {};
  const about = {
    ...('scan_id' in properties && { scan_id: known.scan_id }),
    ...('scan_ids' in properties && { scan_ids: [known.scan_id] }),
    ...('campaign_ids' in properties && known.campaign_id && { campaign_ids: [known.campaign_id] }),
  };
  return Object.keys(about).length > 0 ? { 'the example, about what is there': { ...examples[0], ...about } } : {};
}

/** Texts that are slow to search for: they occur almost everywhere, and never whole. */
const SEARCHED = ['x'.repeat(4_000), `${'x'.repeat(4_000)}y`, `y${'x'.repeat(4_000)}`];

function queriesOf({ properties = {}, patternProperties = {} }: Schema, known: KnownValues, lastPage: number) {
  const isPaged = 'page' in properties;
  const page = isPaged ? ['limit=200'] : [];
  const texts = Object.entries(properties).filter(([, { type, format }]) => type === 'string' && !format);
  const request = (what: string, ...parts: string[]): RouteRequest => ({ what, query: parts.join('&') });
  const common = (...[what, ...parts]: Parameters<typeof request>) => ({
    ...request(what, ...parts),
    isCommon: true as const,
  });
  const pair = (name: string, value: string) => `${name}=${encodeURIComponent(value)}`;
  const many = (value: string, most = QUERY_BYTES) =>
    `${value},`.repeat(Math.floor(Math.min(most, 4_000) / (value.length + 1)));
  const values = [
    ...texts.flatMap(([name]) => (known[name] ? [[name, known[name]] as const] : [])),
    ...Object.keys(patternProperties).flatMap(() => (known.label ? [['label_team', known.label] as const] : [])),
  ];
  const ofTexts = texts.flatMap(([name, { maxLength }]) => [
    ...(known[name] ? [common(`${name} that many have`, pair(name, known[name]), ...page)] : []),
    ...(known[name]
      ? [request(`${name} named again and again`, pair(name, many(known[name], maxLength)), ...page)]
      : []),
    ...SEARCHED.map((text) => request(`a long ${name}`, pair(name, text.slice(0, maxLength)), ...page)),
  ]);
  const ofPairs = values.flatMap(([one, value], at) =>
    values
      .slice(at + 1)
      .map(([other, second]) => request(`${one} and ${other}`, pair(one, value), pair(other, second), ...page)),
  );
  const ofChoices = Object.entries(properties).flatMap(([name, { type }]) =>
    type === 'boolean' ? [common(name, `${name}=true`, ...page)] : [],
  );
  const names = Array.from({ length: QUERY_BYTES / 7 }, (_, at) => `p${at}`)
    .join('&')
    .slice(0, QUERY_BYTES);
  return [
    common('as it is', ...page),
    ...(isPaged ? [common('the last page', `page=${lastPage}`, 'limit=200')] : []),
    ...(isPaged ? [request('a page far beyond the last', 'page=1000000', 'limit=200')] : []),
    ...ofChoices,
    ...ofTexts,
    ...ofPairs,
    request('a query of many names', names),
    request('a query of one name', 'status=a&'.repeat(QUERY_BYTES / 9)),
  ];
}
