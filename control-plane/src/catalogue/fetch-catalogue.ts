import { type Catalogue, CatalogueSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { Value } from 'typebox/value';

const DEADLINE_MS = 5_000;

/** The proxy-router's catalogue. Rejects when it does not answer in time, refuses or answers something else. */
export async function fetchCatalogue(proxyUrl: string, nodeToken: string): Promise<Catalogue> {
  const controller = new AbortController();
  // A real timer: AbortSignal.timeout is unref'd, and a peer may accept and say nothing.
  const timer = setTimeout(() => controller.abort(new Error('the catalogue was not answered in time')), DEADLINE_MS);
  try {
    const answer = await fetch(`${proxyUrl}/catalogue`, {
      headers: { authorization: `Bearer ${nodeToken}` },
      signal: controller.signal,
    });
    if (!answer.ok) throw new Error(`the proxy-router answered ${answer.status} when asked for its catalogue`);
    return Value.Parse(CatalogueSchema, await answer.json());
  } finally {
    clearTimeout(timer);
  }
}
