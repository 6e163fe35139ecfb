import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import { type Catalogue, CatalogueSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { Value } from 'typebox/value';

const DEADLINE_MS = 5_000;

/**
 * Reads the proxy-router's catalogue; an answer that is the one before, to the letter, is not checked again. Rejects when the router does
 * not answer in time, refuses or answers something else.
 */
export function catalogueReader(proxyUrl: string, nodeToken: string): () => Promise<Catalogue> {
  let last: { text: string; catalogue: Catalogue } | null = null;
  return async () => {
    const text = await fetchText(proxyUrl, nodeToken);
    if (last?.text !== text) last = { text, catalogue: Value.Parse(CatalogueSchema, JSON.parse(text)) };
    return last.catalogue;
  };
}

async function fetchText(proxyUrl: string, nodeToken: string): Promise<string> {
  const headers = { authorization: `Bearer ${nodeToken}` };
  const { isOk, status, text } = await fetchInTime(`${proxyUrl}/catalogue`, { headers }, DEADLINE_MS);
  if (!isOk) throw new Error(`the proxy-router answered ${status} when asked for its catalogue`);
  return text;
}
