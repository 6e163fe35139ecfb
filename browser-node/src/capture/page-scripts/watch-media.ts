import type { Natives } from './natives.ts';

/** Tells of an attempt to play: a later one with the same id replaces an earlier one. */
export type TellSound = (
  id: string,
  via: string,
  muted: boolean,
  volume: number,
  started: boolean,
  hasAudio: boolean,
) => void;

/** Runs in the page: audio and video elements that are played by script or by themselves. Attempts count although the browser blocks them. */
export function watchMedia(
  { getter, secret, precede, listen, later, nextId, isUsers }: Natives,
  tell: TellSound,
): void {
  const media = HTMLMediaElement.prototype;
  const isMuted = getter<boolean>(media, 'muted');
  const volumeOf = getter<number>(media, 'volume');
  const isPaused = getter<boolean>(media, 'paused');
  const isAutoplay = getter<boolean>(media, 'autoplay');
  const lengthOf = getter<number>(media, 'duration');
  const decodedOf = getter<number>(media, 'webkitAudioDecodedByteCount');
  const widthOf = getter<number>(HTMLVideoElement.prototype, 'videoWidth');
  const targetOf = getter<EventTarget | null>(Event.prototype, 'target');
  const known = secret<{ id: string; via: string }>();

  const isFilm = (element: HTMLMediaElement) => element instanceof HTMLVideoElement && widthOf(element) > 0;
  /** A film has sound when some was decoded; what has a length and no picture is sound. */
  const hasAudio = (element: HTMLMediaElement) => decodedOf(element) > 0 || (lengthOf(element) > 0 && !isFilm(element));
  const report = (element: HTMLMediaElement) => {
    const attempt = known.of(element);
    if (!attempt) return;
    tell(attempt.id, attempt.via, isMuted(element), volumeOf(element), !isPaused(element), hasAudio(element));
  };
  const attempted = (self: unknown, via: string) => {
    if (!(self instanceof HTMLMediaElement) || isUsers()) return;
    if (!known.of(self)) {
      known.keep(self, { id: nextId(), via });
      // What it holds is known when it has loaded; whether it started, and how loud, soon after.
      const again = () => later(() => report(self));
      listen(self, 'loadeddata', again, false);
      listen(self, 'playing', again, false);
      listen(self, 'volumechange', again, false);
    }
    report(self);
  };
  precede(media, 'play', (self) => attempted(self, 'play'));
  precede(media, 'autoplay', (self, on) => on && attempted(self, 'autoplay'));
  const loads = (event: Event) => {
    const element = targetOf(event);
    if (element instanceof HTMLMediaElement && isAutoplay(element)) attempted(element, 'autoplay');
  };
  // Elements of the document's own HTML.
  listen(document, 'loadstart', loads, true);
}
