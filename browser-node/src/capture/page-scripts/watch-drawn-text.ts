import type { Natives } from './natives.ts';

/** Notes one text that is drawn on a canvas, and where. */
export type NoteDrawn = (text: unknown, x: unknown, y: unknown) => void;

/**
 * Runs in the page: collects the texts that a document draws on canvases, each once at each place, and reports them a
 * while later: `<text>|<x>|<y>` for each, in percent-encoding, joined by `,`. Bounded for a document, however often an
 * animation draws.
 */
export function watchDrawnText({ watch }: Natives, report: (texts: string) => void): NoteDrawn {
  const [TEXT_LENGTH_MAX, TEXTS_MAX, ALL_LENGTH_MAX, REPORTS_MAX] = [300, 1_500, 12_000, 40];
  const { call } = Function.prototype;
  const encode = encodeURIComponent;
  const slice = call.bind(String.prototype.slice) as (text: string, from: number, to: number) => string;
  const isWellFormed = call.bind(String.prototype.isWellFormed) as unknown as (text: string) => boolean;
  const seen = new Set<string>();
  const isSeen = call.bind(Set.prototype.has, seen) as (key: string) => boolean;
  const see = call.bind(Set.prototype.add, seen);
  let [texts, length, reports, pending, isWatched] = [0, 0, 0, '', false];
  /** Whether nothing was drawn since it was last sampled: what is drawn later is watched anew. */
  const send = () => {
    isWatched = pending !== '';
    if (isWatched && reports++ < REPORTS_MAX) report(pending);
    pending = '';
    return !isWatched;
  };
  return (drawn, x, y) => {
    if (typeof drawn !== 'string' || typeof x !== 'number' || typeof y !== 'number') return;
    if (texts >= TEXTS_MAX || length >= ALL_LENGTH_MAX || drawn === '') return;
    const text = slice(drawn, 0, TEXT_LENGTH_MAX);
    const key = `${text}|${x}|${y}`;
    if (isSeen(key) || !isWellFormed(text)) return;
    see(key);
    texts += 1;
    length += text.length;
    pending += `${pending === '' ? '' : ','}${encode(key)}`;
    // What one task or a few draw goes into one report.
    if (isWatched) return;
    isWatched = true;
    watch(send);
  };
}
