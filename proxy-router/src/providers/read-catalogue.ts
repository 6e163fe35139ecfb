import { lineOf } from '@adsweep/shared/validation/issue.ts';
import { schemaIssues } from '@adsweep/shared/validation/schema-issues.ts';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Place, placeProperties } from './exit.ts';

/** Limit of reported problems per catalogue: a wrong one usually has the same problem in every place. */
const PROBLEMS_MAX = 5;
const PLACES_MAX = 500_000;

/** Vendors may add other fields; '' and null mean that a place has no such name. */
const text = Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Null()]));
const SourceSchema = Type.Object({
  places: Type.Array(Type.Object({ ...placeProperties, region: text, city: text, isp: text }), {
    maxItems: PLACES_MAX,
  }),
});

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
  if (!Value.Check(SourceSchema, source)) {
    const issues = schemaIssues(Value.Errors(SourceSchema, source), SourceSchema, source, []).slice(0, PROBLEMS_MAX);
    throw new CatalogueError(issues.map(lineOf));
  }
  return source.places.map(({ country_code, proxy_type, region, city, isp, pool_size }) => ({
    country_code: country_code.toUpperCase(),
    proxy_type,
    pool_size,
    ...(region && { region }),
    ...(city && { city }),
    ...(isp && { isp }),
  }));
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new CatalogueError([`it is not valid JSON: ${(error as Error).message}`]);
  }
}
