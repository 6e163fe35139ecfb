/** A bar chart in text, for a report that is read in a terminal or as Markdown. */
export function barChart(title: string, bars: (readonly [label: string, value: number])[]): string {
  const most = Math.max(...bars.map(([, value]) => value));
  const width = Math.max(...bars.map(([label]) => label.length));
  const rows = bars.map(([label, value]) => {
    const bar = '█'.repeat(Math.max(1, Math.round((40 * value) / most)));
    return `${label.padEnd(width)} ${bar} ${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)}`;
  });
  return ['```', title, ...rows, '```'].join('\n');
}
