import type { Natives } from './natives.ts';
import type { NoteDrawn } from './watch-drawn-text.ts';

/**
 * Runs in the page: counts reads of what distinguishes browsers (Englehardt and Narayanan, "Online Tracking", 2016,
 * sections 6.1 to 6.4). `canvas`: a canvas with text of ten characters, 16 pixels wide and high, is read back. `audio`:
 * at most some seconds of sound are rendered offline. `font`: another family is tried, on a canvas, by a style or by
 * `FontFaceSet.check`. Reported when a count has doubled. `noteDrawn` is told each text that is drawn on a canvas: a
 * function is replaced once.
 */
export function watchFingerprints(
  { precede, getter, secret, hasUserGesture }: Natives,
  report: (trait: 'canvas' | 'audio' | 'font', times: number) => void,
  noteDrawn: NoteDrawn,
): void {
  const [TEXT_LENGTH, SIDE, SAMPLES_MAX, FAMILIES_MAX, COUNT_MAX] = [10, 16, 200_000, 512, 1_024];
  const { call } = Function.prototype;
  const counterOf = (trait: 'canvas' | 'audio' | 'font') => {
    let [count, reported, next] = [0, 0, 1];
    return () => {
      if (count >= COUNT_MAX || hasUserGesture()) return;
      count += 1;
      if (count < next) return;
      report(trait, count - reported);
      reported = count;
      next = count * 2;
    };
  };
  const [canvasRead, audioRendered, fontTried] = [counterOf('canvas'), counterOf('audio'), counterOf('font')];

  const families = new Set<string>();
  const isKnown = call.bind(Set.prototype.has, families) as (family: string) => boolean;
  const keep = call.bind(Set.prototype.add, families);
  const slice = call.bind(String.prototype.slice) as (text: string, from: number, to?: number) => string;
  const lastIndexOf = call.bind(String.prototype.lastIndexOf) as (text: string, part: string) => number;
  let known = 0;
  /** `font`: families, after a size if there is one: another size is not another font. */
  const tried = (font: unknown) => {
    if (typeof font !== 'string' || font.length > 500 || known >= FAMILIES_MAX) return;
    const at = lastIndexOf(font, 'px ');
    const family = at < 0 ? font : slice(font, at + 3);
    if (isKnown(family)) return;
    keep(family);
    known += 1;
    fontTried();
  };

  const { CanvasRenderingContext2D: Context, OffscreenCanvasRenderingContext2D: Offscreen } = window as Partial<
    typeof globalThis
  >;
  const hasText = secret<true>();
  for (const owner of [Context, Offscreen]) {
    if (!owner) continue;
    const canvasOf = getter<object>(owner.prototype, 'canvas');
    const drawn = (self: unknown, text: unknown, x: unknown, y: unknown) => {
      noteDrawn(text, x, y);
      const canvas = typeof text === 'string' && text.length >= TEXT_LENGTH && canvasOf(self);
      if (canvas) hasText.keep(canvas, true);
    };
    precede(owner.prototype, 'fillText', drawn);
    precede(owner.prototype, 'strokeText', drawn);
    precede(owner.prototype, 'font', (_, font) => tried(font));
    precede(owner.prototype, 'getImageData', (self) => hasText.of(canvasOf(self)) && canvasRead());
  }
  const widthOf = getter<number>(HTMLCanvasElement.prototype, 'width');
  const heightOf = getter<number>(HTMLCanvasElement.prototype, 'height');
  const isLarge = (canvas: unknown) => (widthOf(canvas) ?? SIDE) >= SIDE && (heightOf(canvas) ?? SIDE) >= SIDE;
  const read = (canvas: unknown) => hasText.of(canvas) && isLarge(canvas) && canvasRead();
  precede(HTMLCanvasElement.prototype, 'toDataURL', read);
  precede(HTMLCanvasElement.prototype, 'toBlob', read);
  if (window.OffscreenCanvas) precede(OffscreenCanvas.prototype, 'convertToBlob', read);

  const { OfflineAudioContext: Offline } = window as Partial<typeof globalThis>;
  if (Offline) {
    const samplesOf = getter<number>(Offline.prototype, 'length');
    precede(Offline.prototype, 'startRendering', (self) => (samplesOf(self) ?? 0) <= SAMPLES_MAX && audioRendered());
  }

  precede(FontFaceSet.prototype, 'check', (_, font) => tried(font));
  precede(CSSStyleDeclaration.prototype, 'fontFamily', (_, font) => tried(font));
  precede(CSSStyleDeclaration.prototype, 'setProperty', (_, name, value) => name === 'font-family' && tried(value));
}
