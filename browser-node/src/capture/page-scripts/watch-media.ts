import type { Natives } from './natives.ts';
import type { BeginAttempt } from './sound-attempts.ts';

/** Runs in the page: audio and video elements that are played by script or by themselves. Attempts count although the browser blocks them. */
export function watchMedia({ getter, secret, precede, listen, watch, isUsers }: Natives, begin: BeginAttempt): void {
  const media = HTMLMediaElement.prototype;
  const isMuted = getter<boolean>(media, 'muted');
  const volumeOf = getter<number>(media, 'volume');
  const isPaused = getter<boolean>(media, 'paused');
  const isAutoplay = getter<boolean>(media, 'autoplay');
  const lengthOf = getter<number>(media, 'duration');
  const decodedOf = getter<number>(media, 'webkitAudioDecodedByteCount');
  const widthOf = getter<number>(HTMLVideoElement.prototype, 'videoWidth');
  const readyOf = getter<number>(media, 'readyState');
  const loadingOf = getter<number>(media, 'networkState');
  const { HAVE_NOTHING: NOTHING, NETWORK_LOADING: LOADING } = HTMLMediaElement;
  const targetOf = getter<EventTarget | null>(Event.prototype, 'target');
  const known = secret<true>();

  const over0 = (value: number | undefined) => value !== undefined && value > 0;
  /** A film has sound when some was decoded; what has a length and no picture is sound, and so is an audio element that still loads. */
  const hasAudio = (element: object) =>
    over0(decodedOf(element)) ||
    (over0(lengthOf(element)) && !over0(widthOf(element))) ||
    (widthOf(element) === undefined && readyOf(element) === NOTHING && loadingOf(element) === LOADING);
  const attempted = (self: object, via: string) => {
    if (isUsers() || known.of(self)) return;
    known.keep(self, true);
    const report = begin(via);
    // Asked again and again: a page can keep events from us, and turn the sound up later.
    watch(() => {
      const muted = isMuted(self) === true;
      const volume = volumeOf(self) ?? 0;
      const started = isPaused(self) === false;
      const audio = hasAudio(self);
      report(muted, volume, started, audio);
      return !muted && volume > 0 && started && audio;
    });
  };
  const isMedia = (self: unknown): self is object => isMuted(self) !== undefined;
  precede(media, 'play', (self) => isMedia(self) && attempted(self, 'play'));
  precede(media, 'autoplay', (self, on) => on && isMedia(self) && attempted(self, 'autoplay'));
  const loads = (event: Event) => {
    const element = targetOf(event);
    if (element && isAutoplay(element)) attempted(element, 'autoplay');
  };
  // Elements of the document's own HTML. At the window, where no listener of the page comes first.
  listen(window, 'loadstart', loads, true);
}
