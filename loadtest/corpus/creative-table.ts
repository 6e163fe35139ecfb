import type { RequestAgreement } from '../../browser-node/test/support/creatives/request-agreement.ts';

/** What one capture of a creative was to show and showed, and its requests beside the servers' log. */
export type CreativeRow = {
  group: string;
  kind: string;
  expected: string[];
  found: string[];
  requests: RequestAgreement;
};

const HEADER = [
  'group',
  'creative',
  'expected',
  'captured',
  'requests in the log',
  'in the record',
  'in one alone',
  'answered in the browser',
];

/** A table with a row for each creative. Pure. */
export function creativeTable(rows: CreativeRow[]): string {
  const lines = [HEADER, HEADER.map(() => '---'), ...rows.map(cells)].map((line) => `| ${line.join(' | ')} |`);
  return [`## What was captured of ${rows.length} creatives, by the last run`, lines.join('\n')].join('\n\n');
}

function cells({ group, kind, expected, found, requests }: CreativeRow): string[] {
  const { logged, recorded, answered, onlyLogged, onlyRecorded } = requests;
  const alone = [...onlyLogged, ...onlyRecorded];
  return [
    group,
    kind,
    listed(expected),
    isSame(expected, found) ? 'the same' : listed(found),
    `${logged}`,
    `${recorded}`,
    alone.length > 0 ? listed(alone) : '0',
    `${answered}`,
  ];
}

const isSame = (a: string[], b: string[]): boolean => [...a].sort().join('\n') === [...b].sort().join('\n');
const listed = (facts: string[]): string => facts.map((fact) => fact.replaceAll('|', '\\|')).join('; ');
