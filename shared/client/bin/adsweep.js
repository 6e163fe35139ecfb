#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

// One of several addresses of a server has as long as in the services: after the 250 ms of Node.js none of a far one would be reached.
setDefaultAutoSelectFamilyAttemptTimeout(2_000);

// A reader such as `head` has read enough: this ends as other programs do then, by SIGPIPE.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(128 + 13);
});

// The package has compiled files. A checkout has TypeScript, which Node.js 24 runs as it is and the bootstrap provides.
const compiled = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(compiled) || process.features.typescript) {
  const { main } = await import(
    (existsSync(compiled) ? compiled : new URL('../src/cli/main.ts', import.meta.url)).href
  );
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.argv.splice(2, 0, 'adsweep');
  await import(new URL('../../../infra/bootstrap/run.mjs', import.meta.url).href);
}
