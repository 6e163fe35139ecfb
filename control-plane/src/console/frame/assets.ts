import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGE_ICON, PAGE_STYLESHEET, SIGN_IN_STYLESHEET } from '../../http/pages/html.ts';
import type { Answer } from '../../http/route.ts';
import { REPORT_STYLESHEET } from '../../scanning/reports/report-stylesheet.ts';

const fileBeside = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** The files that every page of the console loads. The same Buffer each time, so that its compressed form is kept. */
const FILES: Record<string, { type: string; body: Buffer }> = {
  'console.css': {
    type: 'text/css; charset=utf-8',
    body: Buffer.from(PAGE_STYLESHEET + SIGN_IN_STYLESHEET + REPORT_STYLESHEET + fileBeside('console.css')),
  },
  'console.js': { type: 'text/javascript; charset=utf-8', body: Buffer.from(fileBeside('console.js')) },
  'icon.svg': { type: 'image/svg+xml', body: Buffer.from(PAGE_ICON) },
};

/** The addresses of these files. */
export type ConsoleAssets = { stylesheet: string; script: string; icon: string };

/** Addresses with a version, so that browsers keep the files until they change. */
export function assetsBelow(link: (path: string) => string): ConsoleAssets {
  const addressOf = (name: string) => {
    const version = createHash('sha256').update(FILES[name]!.body).digest('base64url').slice(0, 12);
    return `${link(`/assets/${name}`)}?v=${version}`;
  };
  return { stylesheet: addressOf('console.css'), script: addressOf('console.js'), icon: addressOf('icon.svg') };
}

/** Null: there is no such file. */
export function assetAnswer(name: string): Answer | null {
  const file = Object.hasOwn(FILES, name) ? FILES[name]! : null;
  return file && { status: 200, ...file, headers: { 'Cache-Control': 'public, max-age=604800, immutable' } };
}
