import { readFileSync } from 'node:fs';
import { demoScan } from './demo-scan.ts';
import { untilOffered } from './until-offered.ts';

/**
 * `node infra/demo/first-scan.ts <base url> <file with the API key>`: waits until the API is ready and offers the demo's exits, scans a page of
 * the ad world, and prints the result and the report's URL. Exits with 1, and says why, if that takes too long.
 */

const [baseUrl = '', keyFile = ''] = process.argv.slice(2);
const say = (text: string) => console.log(text);

try {
  const apiKey = readFileSync(keyFile, 'utf8').trim();
  await untilOffered(baseUrl, apiKey, say);
  await demoScan(baseUrl, apiKey, say);
} catch (error) {
  console.error(`the demo scan failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
