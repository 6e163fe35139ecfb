import type { Finding } from './finding.ts';

/** What hostile evidence may make of a scan: so many tags, with details of so many characters. */
const FINDINGS_MAX = 200;
const DETAIL_LENGTH_MAX = 1_000;

/** Findings each once per slug, link and surface, the first one's words kept, in the order they were made. */
export function combine(findings: Finding[]): Finding[] {
  const unique = new Map<string, Finding>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.tag_slug, finding.url, finding.surface]);
    if (!unique.has(key)) unique.set(key, { ...finding, detail: clip(finding.detail) });
  }
  return [...unique.values()].slice(0, FINDINGS_MAX);
}

function clip(detail: string): string {
  return detail.length <= DETAIL_LENGTH_MAX ? detail : `${detail.slice(0, DETAIL_LENGTH_MAX - 1).toWellFormed()}…`;
}
