import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'demo-report';
const REPORT = /^r\/[A-Za-z0-9_-]{16,64}$/;

/**
 * The path of the demo's report, such as `r/<token>`, which a start with the demo writes to the data folder; null if
 * there is none.
 */
export async function findDemoReport(dataDir: string): Promise<string | null> {
  const text = await readFile(join(dataDir, FILE), 'utf8').catch(() => '');
  return REPORT.test(text.trim()) ? text.trim() : null;
}
