import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DASHBOARDS, type Panel } from './panels.ts';

/**
 * Draws the dashboards from the data of a running Prometheus, to be looked at without Grafana: one SVG file each.
 *
 *     node infra/monitoring/draw-dashboards.ts http://127.0.0.1:9090 FOLDER [minutes, 60 by default]
 */
const [prometheus = '', folder = '', minutes = '60'] = process.argv.slice(2);
if (!URL.canParse(prometheus) || folder === '' || !(Number(minutes) > 0)) {
  console.error('usage: draw-dashboards.ts <URL of Prometheus> <folder> [minutes]');
  process.exit(1);
}

type Line = { legend: string; points: [at: number, value: number][] };
type Range = { from: number; to: number };

const POINTS = 120;
const [WIDTH, HEIGHT, GAP] = [560, 200, 24];
const COLOURS = ['#2f6db5', '#c8553d', '#3a7d44', '#8e5ea2', '#b8860b', '#5b6770', '#17807e', '#d16ba5'];
const LEGENDS_MAX = 6;

const mostOf = ({ points }: Line): number => Math.max(...points.map(([, value]) => value));

/** The lines of a panel, the highest first: only some are named. Throws if Prometheus refuses one of its queries. */
async function linesOf({ queries }: Panel, { from, to }: Range): Promise<Line[]> {
  const lines: Line[] = [];
  for (const [expr, legend] of queries) {
    const query = new URLSearchParams({
      query: expr,
      start: String(from),
      end: String(to),
      step: String((to - from) / POINTS),
    });
    const answer = await fetch(`${prometheus}/api/v1/query_range?${query}`);
    if (!answer.ok) throw new Error(`${expr} was answered ${answer.status}: ${await answer.text()}`);
    const { data } = (await answer.json()) as {
      data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
    };
    for (const { metric, values } of data.result)
      lines.push({
        legend: legend.replace(/\{\{(\w+)\}\}/g, (_, name: string) => metric[name] ?? ''),
        points: values.flatMap(([at, value]) => (Number.isFinite(Number(value)) ? [[at, Number(value)]] : [])),
      });
  }
  return lines.filter(({ points }) => points.length > 0).sort((a, b) => mostOf(b) - mostOf(a));
}

const escaped = (text: string) => text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]!);
const text = (x: number, y: number, content: string, more: string) =>
  `<text x="${x}" y="${y}" ${more}>${escaped(content)}</text>`;

/** A panel as SVG; without data it says so. Pure. */
function drawPanel({ title, unit }: Panel, lines: Line[], { from, to }: Range): string {
  const most = Math.max(...lines.map(mostOf), 0) || 1;
  const x = (at: number) => (((at - from) / (to - from)) * WIDTH).toFixed(1);
  const y = (value: number) => (HEIGHT - (value / most) * (HEIGHT - 8)).toFixed(1);
  const drawn = lines.map(
    ({ points }, at) =>
      `<polyline fill="none" stroke="${COLOURS[at % COLOURS.length]}" stroke-width="1.6" points="${points.map(([time, value]) => `${x(time)},${y(value)}`).join(' ')}"/>`,
  );
  const named = lines
    .slice(0, LEGENDS_MAX)
    .map(({ legend }, at) =>
      text(
        4 + (at % 3) * 186,
        HEIGHT + 16 + 15 * Math.floor(at / 3),
        legend || title,
        `fill="${COLOURS[at % COLOURS.length]}"`,
      ),
    );
  return [
    text(0, -10, title, 'font-weight="600"'),
    text(WIDTH, -10, `${most.toPrecision(3)} ${unit}`, 'text-anchor="end" fill="#5b6770"'),
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff" stroke="#c9ced4"/>`,
    ...(lines.length === 0 ? [text(WIDTH / 2, HEIGHT / 2, 'no data', 'text-anchor="middle" fill="#c8553d"')] : drawn),
    ...named,
  ].join('\n');
}

const to = Date.now() / 1000;
const range = { from: to - Number(minutes) * 60, to };
mkdirSync(folder, { recursive: true });
for (const [name, panels] of Object.entries(DASHBOARDS)) {
  const cells: string[] = [];
  const empty: string[] = [];
  for (const [at, panel] of panels.entries()) {
    const lines = await linesOf(panel, range);
    if (lines.length === 0) empty.push(panel.title);
    const place = `${GAP + (at % 2) * (WIDTH + GAP)} ${72 + Math.floor(at / 2) * (HEIGHT + 76)}`;
    cells.push(`<g transform="translate(${place})">${drawPanel(panel, lines, range)}</g>`);
  }
  const [width, height] = [2 * WIDTH + 3 * GAP, 72 + Math.ceil(panels.length / 2) * (HEIGHT + 76)];
  const file = join(folder, `${name.toLowerCase()}.svg`);
  writeFileSync(
    file,
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#f5f6f8"/>${text(GAP, 32, name, 'font-size="20" font-weight="600"')}${cells.join('\n')}</svg>\n`,
  );
  console.log(
    `${file}: ${panels.length - empty.length} of ${panels.length} panels have data${empty.length > 0 ? `; none: ${empty.join(', ')}` : ''}`,
  );
}
