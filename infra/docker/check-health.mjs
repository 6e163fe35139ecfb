/**
 * `node check-health.mjs <url>`: exits with 0 if the URL answers 200 within 4 s, and otherwise with 1, with the reason on standard error. An
 * image of its own kind, such as one with curl, would be larger by more than this file.
 */
const [url = ''] = process.argv.slice(2);
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  process.exit(0);
} catch (error) {
  console.error(`${url}: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
