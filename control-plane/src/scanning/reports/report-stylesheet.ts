import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the parts of a report look like, beyond what every page has. */
export const REPORT_STYLESHEET = readFileSync(join(import.meta.dirname, 'report.css'), 'utf8');
