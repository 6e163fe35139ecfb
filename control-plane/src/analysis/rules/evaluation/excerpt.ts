const AROUND = 60;

/** The surroundings of a hit in one line, the hit between « and ». */
export function excerptOf(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - AROUND), start);
  const hit = text.slice(start, Math.min(end, start + AROUND * 2));
  const after = text.slice(end, end + AROUND);
  const shown = `${start > AROUND ? '…' : ''}${before}«${hit}${end - start > hit.length ? '…' : ''}»${after}${end + AROUND < text.length ? '…' : ''}`;
  return shown.replaceAll(/[\p{C}\s]+/gu, ' ').toWellFormed();
}
