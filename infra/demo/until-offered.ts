import { setTimeout as sleep } from 'node:timers/promises';
import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import { DEMO_PAGE } from './exits.ts';

const ANSWER_MS = 5_000;
const PAUSE_MS = 500;
/** How long it waits before it says for what, and before it gives up. */
const WAITS = { silentMs: 10_000, endMs: 180_000 };

/** Waits until the API offers the demo's exits, and says what is missing if that takes long. Throws with what is missing if it takes too long. */
export async function untilOffered(
  baseUrl: string,
  apiKey: string,
  say: (text: string) => void,
  { silentMs, endMs } = WAITS,
): Promise<void> {
  const began = performance.now();
  for (let said = ''; ; await sleep(PAUSE_MS)) {
    const missing = await missingAt(baseUrl, apiKey);
    if (missing === null) return;
    const waitedMs = performance.now() - began;
    if (waitedMs >= silentMs && said !== missing) {
      said = missing;
      say(`waiting, because there is no ${missing}`);
    }
    if (waitedMs > endMs) throw new Error(`after ${Math.round(waitedMs / 1_000)} s there is still no ${missing}`);
  }
}

/** What is missing for the scan, with advice; null: nothing. */
async function missingAt(baseUrl: string, apiKey: string): Promise<string | null> {
  const url = `${baseUrl}/api/v1/proxy/targeting?country_code=${DEMO_PAGE.country_code}`;
  try {
    const { status, text } = await fetchInTime(url, { headers: { authorization: `Bearer ${apiKey}` } }, ANSWER_MS);
    if (status !== 200) return `catalogue of exits: GET ${url} returned ${status}: ${text}`;
    // The built-in exits have no cities.
    const offersDemo = (JSON.parse(text) as { cities: unknown[] }).cities.length > 0;
    return offersDemo ? null : NO_EXIT;
  } catch (error) {
    const { message, cause } = error as Error;
    return `answer of the API: ${cause instanceof Error ? cause.message : message}`;
  }
}

const NO_EXIT = `exit of the ad world in the catalogue. They are there while the ad world runs and the proxy-router reads the exits file that it writes, which is not the case with exits of your own (ADSWEEP_EXITS_DIR)`;
