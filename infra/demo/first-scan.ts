import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import { demoScan } from './demo-scan.ts';
import { DEMO_PAGE } from './exits.ts';

/**
 * `node infra/demo/first-scan.ts <base url> <file with the API key>`: waits until the API is ready and offers the demo's exits, scans a page of
 * the ad world, and prints the result and the report's URL.
 */

const ANSWER_MS = 5_000;
const PAUSE_MS = 500;
const [baseUrl = '', keyFile = ''] = process.argv.slice(2);
const apiKey = readFileSync(keyFile, 'utf8').trim();

while (!(await offersDemo())) await sleep(PAUSE_MS);
await demoScan(baseUrl, apiKey, (text) => console.log(text));

/** Whether the catalogue has cities of the demo's country: the built-in exits have none. */
async function offersDemo(): Promise<boolean> {
  const url = `${baseUrl}/api/v1/proxy/targeting?country_code=${DEMO_PAGE.country_code}`;
  try {
    const { status, text } = await fetchInTime(url, { headers: { authorization: `Bearer ${apiKey}` } }, ANSWER_MS);
    return status === 200 && (JSON.parse(text) as { cities: unknown[] }).cities.length > 0;
  } catch {
    return false; // The API is not there yet.
  }
}
