import type { Finding } from './finding.ts';

/** Limits against hostile evidence: tags per scan, and characters of a tag's details. */
const FINDINGS_MAX = 200;
const DETAIL_LENGTH_MAX = 1_000;

/** Findings without duplicates by slug, link and surface, in order; of duplicates the first is kept. */
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
