/** A media element that can be heard, or could if the browser let it. */
export type AudibleMedia = { volume: number; started: boolean; autoplay: boolean };

/**
 * Runs in the page, in a world of its own: the media elements of a document that play or are to play by themselves and can be heard, at
 * most `max`. It sees them whatever the page did to events or wrote anew.
 */
export function readMedia({ max }: { max: number }): AudibleMedia[] {
  const elements = Document.prototype.querySelectorAll.call(document, 'audio, video') as NodeListOf<HTMLMediaElement>;
  const audible: AudibleMedia[] = [];
  for (let index = 0; index < elements.length && audible.length < max; index++) {
    const element = elements[index] as HTMLMediaElement & { webkitAudioDecodedByteCount?: number };
    const { muted, volume, paused, autoplay, duration } = element;
    const isFilm = element instanceof HTMLVideoElement && element.videoWidth > 0;
    const hasAudio = (element.webkitAudioDecodedByteCount ?? 0) > 0 || (duration > 0 && !isFilm);
    if (!muted && volume > 0 && hasAudio && (autoplay || !paused)) audible.push({ volume, started: !paused, autoplay });
  }
  return audible;
}
