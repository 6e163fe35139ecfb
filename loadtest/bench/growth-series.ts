import { median } from './report.ts';

/** One quantity of one part of the farm, after each block of scans. `tolerated`: the fluctuation that is no leak. */
export type Series = { name: string; unit: string; tolerated: number; values: number[] };

/** How the last third of a series compares with its middle third, by their medians. The first third, in which caches fill, is left out. */
export type Growth = { middle: number; last: number; grows: boolean };

/** A series grows where its last third exceeds its middle third by a tenth and by more than is tolerated. At least six values. Pure. */
export function growthOf({ values, tolerated }: Series): Growth {
  const third = Math.floor(values.length / 3);
  const middle = median(values.slice(-2 * third, -third));
  const last = median(values.slice(-third));
  return { middle, last, grows: last - middle > Math.max(middle / 10, tolerated) };
}

/** A chart: what it shows, and its lines. */
export type Panel = { title: string; series: Series[] };

const COLORS = ['#2b6cb0', '#c05621', '#2f855a', '#6b46c1', '#b83280'];
const WIDTH = 760;
const PLOT = { left: 60, width: 440, height: 130, top: 34 };
const PANEL_HEIGHT = 210;

/** Lines over blocks of scans, one chart below the other, as an SVG picture. `labels` are below the points. Pure. */
export function drawSeries(title: string, labels: string[], panels: Panel[]): string {
  const charts = panels.map((panel, index) => chart(panel, labels, 44 + index * PANEL_HEIGHT));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${54 + panels.length * PANEL_HEIGHT}" width="${WIDTH}"
  font-family="system-ui, sans-serif" font-size="12" fill="#1f2933">
<title>${title}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="16" y="26" font-size="16" font-weight="600">${title}</text>
${charts.join('\n')}
</svg>
`;
}

function chart({ title, series }: Panel, labels: string[], y: number): string {
  const most = Math.max(1, ...series.flatMap(({ values }) => values));
  const x = (index: number) => PLOT.left + (index * PLOT.width) / Math.max(1, labels.length - 1);
  const at = (value: number) => PLOT.top + PLOT.height * (1 - value / most);
  const lines = series.map(({ name, values }, index) => {
    const points = values.map((value, point) => `${x(point).toFixed(1)},${at(value).toFixed(1)}`).join(' ');
    const color = COLORS[index % COLORS.length];
    const label = `${name}: ${values.at(-1)?.toFixed(0)}`;
    return `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="2"/>
<text x="${PLOT.left + PLOT.width + 16}" y="${PLOT.top + 12 + index * 18}" fill="${color}">${label}</text>`;
  });
  const ticks = labels.map(
    (label, index) => `<text x="${x(index)}" y="${PLOT.top + PLOT.height + 16}" text-anchor="middle">${label}</text>`,
  );
  return `<g transform="translate(0 ${y})"><text x="16" y="18" font-weight="600">${title}</text>
<path d="M${PLOT.left} ${PLOT.top}v${PLOT.height}h${PLOT.width}" fill="none" stroke="#9aa5b1"/>
<g fill="#616e7c"><text x="${PLOT.left - 8}" y="${PLOT.top + 10}" text-anchor="end">${most.toFixed(0)}</text>${ticks.join('')}</g>
${lines.join('\n')}</g>`;
}
