import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import { type Catalogue, CatalogueSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { Value } from 'typebox/value';

const DEADLINE_MS = 5_000;

/** The proxy-router's catalogue. Rejects when it does not answer in time, refuses or answers something else. */
export async function fetchCatalogue(proxyUrl: string, nodeToken: string): Promise<Catalogue> {
  const headers = { authorization: `Bearer ${nodeToken}` };
  const { isOk, status, text } = await fetchInTime(`${proxyUrl}/catalogue`, { headers }, DEADLINE_MS);
  if (!isOk) throw new Error(`the proxy-router answered ${status} when asked for its catalogue`);
  return Value.Parse(CatalogueSchema, JSON.parse(text));
}
