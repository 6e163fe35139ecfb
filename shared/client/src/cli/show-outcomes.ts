import type { Context } from './command.ts';
import { type FailOn, type Outcome, verdictOf } from './verdict.ts';

function targetOf({ url, vast_tag, parent_scan_id, slot_index, ad_kind }: Outcome['scan']): string {
  const target = url || (vast_tag === null ? 'ad tag' : 'VAST tag');
  return parent_scan_id === null ? target : `${ad_kind ?? 'ad'} ${slot_index ?? ''} on ${target}`;
}

/** The findings of scans, the worst first, and where their reports are. */
export function showOutcomes({ terminal }: Context, outcomes: Outcome[], failOn: FailOn): void {
  const rank = ['high', 'medium', 'low'];
  const findings = outcomes
    .flatMap(({ scan, tags }) => tags.map((tag) => ({ scan, tag })))
    .sort((one, other) => rank.indexOf(one.tag.severity) - rank.indexOf(other.tag.severity));
  const isMany = outcomes.length > 1;
  const incomplete = outcomes.filter(({ scan }) => scan.status !== 'completed');
  const verdict = verdictOf(outcomes, failOn);

  if (findings.length > 0)
    terminal.table(
      ['severity', 'tag', ...(isMany ? ['country', 'scan'] : []), 'finding', 'where'],
      findings.map(({ scan, tag }) => [
        ...[tag.severity, tag.tag_slug, ...(isMany ? [scan.country_code, scan.id] : [])],
        ...[tag.display_name, tag.url || targetOf(scan)],
      ]),
    );
  for (const { scan } of incomplete)
    terminal.headline(scan.status, `${scan.error || 'it did not complete'} (${scan.id})`);
  if (isMany)
    terminal.table(
      ['status', 'country', 'findings', 'target', 'report'],
      outcomes.map((one) => [
        ...[
          one.scan.status,
          one.scan.country_code,
          String(one.tags.length),
          targetOf(one.scan),
          one.scan.public_report_url,
        ],
      ]),
    );
  const count = `${findings.length} finding${findings.length === 1 ? '' : 's'}`;
  const worst = findings.length === 0 ? '' : `, the highest severity is ${findings[0]!.tag.severity}`;
  terminal.headline(verdict, `${count}${worst}`);
  if (!isMany) terminal.print(outcomes[0]!.scan.public_report_url);
}
