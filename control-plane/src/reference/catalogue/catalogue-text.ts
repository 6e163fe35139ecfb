import { parseJsonInSlices } from '@adsweep/shared/service/parse-json-in-slices.ts';
import { pause } from '@adsweep/shared/service/time-slice.ts';
import {
  type Catalogue,
  CataloguePoolSchema,
  CatalogueSchema,
  type CatalogueTimes,
  CatalogueTimesSchema,
} from '@adsweep/shared/targeting/catalogue.ts';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';

const [ofCatalogue, ofPool] = [Compile(CatalogueSchema), Compile(CataloguePoolSchema)];

/**
 * The catalogue in a text. With the places of vendors it has megabytes, and in one piece it would block the event loop
 * for tens of milliseconds. Throws what is wrong with another text.
 */
export async function parseCatalogue(text: string): Promise<Catalogue> {
  const value = await parseJsonInSlices(text);
  const { pools, ...around } = Object(value) as Partial<Catalogue>;
  for (const pool of Array.isArray(pools) ? pools : []) {
    if (!ofPool.Check(pool)) Value.Assert(CataloguePoolSchema, pool);
    await pause();
  }
  const rest = Array.isArray(pools) ? { ...around, pools: [] } : value;
  if (!ofCatalogue.Check(rest)) Value.Assert(CatalogueSchema, rest);
  return value as Catalogue;
}

/** The times in a text. Throws what is wrong with another text. */
export function parseTimes(text: string): CatalogueTimes {
  const value: unknown = JSON.parse(text);
  Value.Assert(CatalogueTimesSchema, value);
  return value;
}

/** The text of a catalogue, written pool by pool. */
export async function catalogueText({ pools, ...around }: Catalogue): Promise<string> {
  const texts: string[] = [];
  for (const pool of pools) {
    texts.push(JSON.stringify(pool));
    await pause();
  }
  return `${JSON.stringify(around).slice(0, -1)},"pools":[${texts.join()}]}`;
}
