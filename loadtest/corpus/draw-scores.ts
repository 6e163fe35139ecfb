import type { Score } from './score.ts';

const ROW = 26;
const LABEL = 190;
const BAR = 320;
const WIDTH = 760;

/** The scores as an SVG image: a bar of recall for each subject, with its false positives and flaky cases. Pure. */
export function drawScores(title: string, scores: Score[]): string {
  const height = 70 + scores.length * ROW;
  const rows = scores.map((score, index) => row(score, 60 + index * ROW));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"
  font-family="system-ui, sans-serif" font-size="13" fill="#1f2933">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="16" y="26" font-size="16" font-weight="600">${escaped(title)}</text>
<g fill="#616e7c"><text x="${LABEL}" y="48">recall</text><text x="${LABEL + BAR + 20}" y="48">false positives · flaky · runs</text></g>
${rows.join('\n')}
</svg>
`;
}

function row({ subject, runs, recall, falsePositives, flaky }: Score, y: number): string {
  const share = recall ?? 1;
  const isGood = share === 1 && falsePositives === 0 && flaky.length === 0;
  const color = isGood ? '#2f855a' : '#c53030';
  const figure = recall === null ? 'nothing to find' : recall.toFixed(3);
  return `<g><text x="16" y="${y + 14}">${escaped(subject)}</text>
<rect x="${LABEL}" y="${y + 2}" width="${BAR}" height="16" rx="3" fill="#e4e7eb"/>
<rect x="${LABEL}" y="${y + 2}" width="${Math.round(BAR * share)}" height="16" rx="3" fill="${color}"/>
<text x="${LABEL + 8}" y="${y + 14}" fill="#fff" font-size="11">${figure}</text>
<text x="${LABEL + BAR + 20}" y="${y + 14}">${falsePositives} · ${flaky.length} · ${runs}</text></g>`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
