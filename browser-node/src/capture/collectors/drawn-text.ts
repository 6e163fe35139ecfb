import type { MemberCapture } from '../session/capture-session.ts';

/** A text that was drawn on a canvas, and where it begins, in the canvas's own units. */
type Drawn = { text: string; x: number; y: number };

/** Texts that are kept of a frame: a document reports no more, but a frame may show one after the other. */
const TEXTS_MAX = 1_500;
/** Texts whose beginnings differ by no more than this in height are on one line. */
const SAME_LINE = 4;

/** Collects what documents draw on their canvases. Returns the text of a frame's current document, by its id. */
export function watchDrawn({ reports, devtools }: Pick<MemberCapture, 'reports' | 'devtools'>): (id: string) => string {
  const byFrame = new Map<string, Drawn[]>();
  devtools.on('Page.frameNavigated', ({ frame }) => void byFrame.delete(frame.id));
  reports.on('drawn-text', (_, [texts = ''], frameId) => {
    if (frameId === null) return;
    const known = byFrame.get(frameId) ?? [];
    byFrame.set(frameId, [...known, ...parseDrawn(texts)].slice(0, TEXTS_MAX));
  });
  return (frameId) => linesOf(byFrame.get(frameId) ?? []);
}

/** The texts of a report of `watchDrawnText`. Pure; what is no such text is left out. */
export function parseDrawn(report: string): Drawn[] {
  return report.split(',').flatMap((one) => {
    try {
      const parts = decodeURIComponent(one).split('|');
      const [y, x] = [Number(parts.pop()), Number(parts.pop())];
      return parts.length > 0 ? [{ text: parts.join('|'), x, y }] : [];
    } catch {
      return [];
    }
  });
}

/** The lines that texts make, as they are placed: single letters next to each other make words. Pure. */
export function linesOf(drawn: readonly Drawn[]): string {
  const lines: Drawn[][] = [];
  for (const one of drawn) {
    const line = lines.find(([first]) => first && Math.abs(first.y - one.y) <= SAME_LINE);
    if (line) line.push(one);
    else lines.push([one]);
  }
  const inOrder = lines.sort(([a], [b]) => (a?.y ?? 0) - (b?.y ?? 0));
  return inOrder.map((line) => lineOf(line.sort((a, b) => a.x - b.x))).join('\n');
}

const isLetter = ({ text }: Drawn): boolean => [...text].length === 1;
const lineOf = (line: readonly Drawn[]): string =>
  line.map((one, at) => `${at > 0 && !(isLetter(one) && isLetter(line[at - 1]!)) ? ' ' : ''}${one.text}`).join('');
