import { type Issue, lineOf } from '@adsweep/shared/validation/issue.ts';
import { schemaIssues } from '@adsweep/shared/validation/schema-issues.ts';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { type Place, placeProperties } from './exit.ts';

/** Limit of reported problems per catalogue: a wrong one usually has the same problem in every place. */
const PROBLEMS_MAX = 5;
const PLACES_MAX = 500_000;

/** Vendors may add other fields; '' and null mean that a place has no such name. */
const text = Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Null()]));
const SourcePlaceSchema = Type.Object({ ...placeProperties, region: text, city: text, isp: text });
const SourceSchema = Type.Object({ places: Type.Array(SourcePlaceSchema, { maxItems: PLACES_MAX }) });

/**
 * A catalogue has up to hundreds of thousands of places, and is read while the gateway forwards: compiled, this takes a
 * tenth of the time.
 */
const [ofSource, ofPlace] = [Compile(SourceSchema), Compile(SourcePlaceSchema)];

/** A vendor's catalogue that cannot be used. */
export class CatalogueError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Reads the JSON of a vendor's catalogue, `{ places: [...] }`. Throws {@link CatalogueError}. */
export function readCatalogue(json: string): Place[] {
  const source = parseJson(json);
  if (!ofSource.Check(source)) throw new CatalogueError(issuesOf(source).slice(0, PROBLEMS_MAX).map(lineOf));
  return source.places.map(({ country_code, proxy_type, region, city, isp, pool_size }) => ({
    country_code: country_code.toUpperCase(),
    proxy_type,
    pool_size,
    ...(region && { region }),
    ...(city && { city }),
    ...(isp && { isp }),
  }));
}

/** The issues of what is no catalogue. Of many places, only the wrong ones are looked at for long. */
function issuesOf(source: unknown): Issue[] {
  const places: unknown = (source as { places?: unknown } | null)?.places;
  const wrong: number[] = [];
  if (Array.isArray(places))
    for (let at = 0; at < places.length && wrong.length < PROBLEMS_MAX; at += 1)
      if (!ofPlace.Check(places[at])) wrong.push(at);
  if (!Array.isArray(places) || (wrong.length === 0 && places.length <= PLACES_MAX))
    return schemaIssues(Value.Errors(SourceSchema, source), SourceSchema, source, []);
  if (wrong.length === 0)
    return [{ loc: ['places'], msg: `Must have at most ${PLACES_MAX} items.`, type: 'too_long', ctx: {} }];
  return wrong.flatMap((at) => {
    const place: unknown = places[at];
    return schemaIssues(Value.Errors(SourcePlaceSchema, place), SourcePlaceSchema, place, ['places', String(at)]);
  });
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new CatalogueError([`it is not valid JSON: ${(error as Error).message}`]);
  }
}
