import { writeFileSync } from 'node:fs';
import { referencePages } from './reference-pages.ts';

// Writes the documents that follow from declarations anew: errors, events, settings, metrics.
for (const [name, text] of Object.entries(referencePages()))
  writeFileSync(new URL(`../../${name}`, import.meta.url), text);
// The metrics of a process keep timers.
process.exit();
