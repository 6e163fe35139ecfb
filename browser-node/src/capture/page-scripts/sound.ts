import { composeScript } from './compose-script.ts';
import type { Natives } from './natives.ts';

/** Reports the current state of one attempt to play; `started`: the browser allowed it. */
export type ReportAttempt = (muted: boolean, volume: number, started: boolean, hasAudio: boolean) => void;
/** Begins an attempt; `via`: the call that attempts it. */
export type BeginAttempt = (via: string) => ReportAttempt;

/**
 * Runs in the page: bounds the reports about the attempts of one document. The first are reported whenever they change;
 * after that only what is louder than all before, so that a thousand muted attempts neither flood the record nor hide a
 * loud one.
 */
export function boundAttempts(report: (line: string) => void): BeginAttempt {
  const REPORTS_MAX = 20;
  const mark = Math.random().toString(36).slice(2);
  let attempts = 0;
  let reports = 0;
  let loudest = 0;
  return (via) => {
    const id = `${mark}.${++attempts}`;
    let last = '';
    return (muted, volume, started, hasAudio) => {
      const line = `${id}|${via}|${muted}|${volume}|${started}|${hasAudio}`;
      const audible = !muted && volume > 0;
      const loudness = (audible ? 4 : 0) + (hasAudio ? 2 : 0) + (audible && hasAudio && started ? 1 : 0);
      if (line === last || (reports >= REPORTS_MAX && loudness <= loudest)) return;
      last = line;
      reports += 1;
      if (loudness > loudest) loudest = loudness;
      report(line);
    };
  };
}

/**
 * Runs in the page: audio and video elements that are played by script or by themselves. Attempts count although the
 * browser blocks them.
 */
export function watchMedia(
  { getter, secret, precede, listen, watch, hasUserGesture }: Natives,
  begin: BeginAttempt,
): void {
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

  const isLooping = getter<boolean>(media, 'loop');
  /** What ends before it is heard: players try by it whether they may play sound. */
  const BLIP_S = 0.5;
  const isBlip = (element: object) => (lengthOf(element) ?? 0) <= BLIP_S && isLooping(element) !== true;
  const over0 = (value: number | undefined) => value !== undefined && value > 0;
  /**
   * A video has sound if some was decoded; media with a duration and no picture is sound, and so is an audio element
   * that still loads.
   */
  const hasAudio = (element: object) =>
    ((over0(decodedOf(element)) || (over0(lengthOf(element)) && !over0(widthOf(element)))) && !isBlip(element)) ||
    (widthOf(element) === undefined && readyOf(element) === NOTHING && loadingOf(element) === LOADING);
  const attempted = (self: object, via: string) => {
    if (hasUserGesture() || known.of(self)) return;
    known.keep(self, true);
    const report = begin(via);
    // Sampled repeatedly: a page can withhold events from us, and turn the sound up later.
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

/**
 * Runs in the page: sources of Web Audio that are started by script, and the volume at which they reach the speakers.
 */
export function watchWebAudio({ getter, secret, precede, watch, hasUserGesture }: Natives, begin: BeginAttempt): void {
  type Sinks = { sink: object; next: Sinks | undefined };
  const sinks = secret<Sinks>();
  const gainOf = getter<AudioParam>(GainNode.prototype, 'gain');
  const amountOf = getter<number>(AudioParam.prototype, 'value');
  /** The loudest value that is scheduled for an amount: without a gesture, the time of its context stands still. */
  const scheduled = secret<number>();
  const schedule = (self: unknown, value: unknown) => {
    if (typeof value !== 'number' || amountOf(self) === undefined) return;
    const amount = value < 0 ? -value : value;
    if (amount > (scheduled.of(self) ?? 0)) scheduled.keep(self as object, amount);
  };
  for (const name of ['setValueAtTime', 'linearRampToValueAtTime', 'exponentialRampToValueAtTime', 'setTargetAtTime'])
    precede(AudioParam.prototype, name, schedule);
  const contextOf = getter<BaseAudioContext>(AudioNode.prototype, 'context');
  const channelsOf = getter<number>(AudioDestinationNode.prototype, 'maxChannelCount');
  const latencyOf = getter<number>(AudioContext.prototype, 'baseLatency');
  const stateOf = getter<string>(BaseAudioContext.prototype, 'state');
  const bufferOf = getter<AudioBuffer | null>(AudioBufferSourceNode.prototype, 'buffer');
  const framesOf = getter<number>(AudioBuffer.prototype, 'length');
  const isLooping = getter<boolean>(AudioBufferSourceNode.prototype, 'loop');
  const isNode = (self: unknown): self is object => contextOf(self) !== undefined;
  // Only secure contexts have worklets.
  const { AudioWorkletNode: Worklet } = window as Partial<typeof globalThis>;
  const portOf = Worklet ? getter<MessagePort>(Worklet.prototype, 'port') : () => undefined;
  const attempted = secret<true>();
  /**
   * Without a buffer nothing is heard yet, nor in a few frames: libraries start an empty one to wake the device.
   * Players of streams start 26 ms each.
   */
  const isBlank = (self: unknown): boolean => {
    const buffer = bufferOf(self);
    if (buffer === undefined || (buffer !== null && isLooping(self) === true)) return false;
    return buffer === null || (framesOf(buffer) ?? 0) <= BLANK_FRAMES;
  };
  const [NODES_MAX, SINKS_MAX, BLANK_FRAMES] = [500, 100, 10];
  const heard = secret<{ sample: number; volume: number }>();
  let [sample, nodesLeft] = [0, 0];
  /**
   * The volume of the speakers of a node's context. Offline contexts, which pages use for fingerprinting, have none.
   */
  const speakersOf = (node: object): number => (latencyOf(contextOf(node)) === undefined ? 0 : 1);
  /**
   * The volume of a node at the speakers, 0 = silent. What is connected to more than is followed counts as connected to
   * them.
   */
  const loudness = (node: object): number => {
    if (channelsOf(node) !== undefined) return speakersOf(node);
    const known = heard.of(node);
    if (known && known.sample === sample) return known.volume;
    if (nodesLeft-- <= 0) return speakersOf(node);
    const own = { sample, volume: 0 };
    heard.keep(node, own);
    const gainParam = gainOf(node);
    const gain = amountOf(gainParam) ?? 1;
    const amount = gain < 0 ? -gain : gain;
    const planned = scheduled.of(gainParam) ?? 0;
    const loudest = planned > amount ? planned : amount;
    let sinksLeft = SINKS_MAX;
    for (let at = sinks.of(node); at; at = at.next) {
      const volume = sinksLeft-- > 0 ? loudness(at.sink) : speakersOf(node);
      const reached = volume * loudest;
      if (reached > own.volume) own.volume = reached;
    }
    return own.volume;
  };
  /** The same, of a new sample: however many paths lead to a node, it is looked at once. */
  const sampled = (node: object): number => {
    sample += 1;
    nodesLeft = NODES_MAX;
    return loudness(node);
  };
  const starts = (self: unknown) => {
    if (!isNode(self) || hasUserGesture()) return;
    const report = begin('audio_context');
    watch(() => {
      const volume = isBlank(self) ? 0 : sampled(self);
      const running = stateOf(contextOf(self)) === 'running';
      report(false, volume, running, volume > 0);
      return volume > 0 && running;
    });
  };
  /** Whether a worklet makes sound is found out by the capture: reported is how loudly it reaches the speakers. */
  const mayStart = (self: object) => {
    if (portOf(self) === undefined || attempted.of(self) || hasUserGesture()) return;
    attempted.keep(self, true);
    const report = begin('audio_context');
    watch(() => {
      const volume = sampled(self);
      report(false, volume, stateOf(contextOf(self)) === 'running', false);
      return volume > 0;
    });
  };
  precede(AudioNode.prototype, 'connect', (self, sink) => {
    if (!isNode(self) || !isNode(sink)) return;
    mayStart(self);
    const first = sinks.of(self);
    let count = 0;
    for (let at = first; at; at = at.next) if (at.sink === sink || ++count > SINKS_MAX) return;
    sinks.keep(self, { sink, next: first });
  });
  precede(AudioScheduledSourceNode.prototype, 'start', starts);
  precede(AudioBufferSourceNode.prototype, 'start', starts);
}

/** Runs in the page: texts that the browser is to read aloud. */
export function watchSpeech({ getter, precede, watch, hasUserGesture }: Natives, begin: BeginAttempt): void {
  const { SpeechSynthesis: synthesis, SpeechSynthesisUtterance: utterance } = window as Partial<typeof globalThis>;
  if (!synthesis || !utterance) return;
  const textOf = getter<string>(utterance.prototype, 'text');
  const volumeOf = getter<number>(utterance.prototype, 'volume');
  const isSpeaking = getter<boolean>(synthesis.prototype, 'speaking');
  const trim = Function.prototype.call.bind(String.prototype.trim) as (text: string) => string;
  precede(synthesis.prototype, 'speak', (self, words) => {
    const text = textOf(words);
    // Nothing is said to wake the device.
    if (text === undefined || trim(text) === '' || hasUserGesture()) return;
    const report = begin('speech');
    watch(() => {
      const started = isSpeaking(self) === true;
      report(false, volumeOf(words) ?? 0, started, true);
      return started;
    });
  });
}

/** A media element that is audible, or would be if the browser allowed it. */
export type AudibleMedia = { volume: number; started: boolean; autoplay: boolean };

/**
 * Runs in the page, in an isolated world: a media element that plays or is to autoplay and is audible; null: it is not.
 */
export function readElement(element: HTMLMediaElement & { webkitAudioDecodedByteCount?: number }): AudibleMedia | null {
  const { muted, volume, paused, autoplay, duration, loop } = element;
  const isFilm = element instanceof HTMLVideoElement && element.videoWidth > 0;
  const isBlip = duration <= 0.5 && !loop;
  const hasAudio = !isBlip && ((element.webkitAudioDecodedByteCount ?? 0) > 0 || (duration > 0 && !isFilm));
  return !muted && volume > 0 && hasAudio && (autoplay || !paused) ? { volume, started: !paused, autoplay } : null;
}

function readDocumentMedia({ max }: { max: number }, parts: { readElement: typeof readElement }): AudibleMedia[] {
  const elements = Document.prototype.querySelectorAll.call(document, 'audio, video') as NodeListOf<HTMLMediaElement>;
  const audible: AudibleMedia[] = [];
  for (let index = 0; index < elements.length && audible.length < max; index++) {
    const found = parts.readElement(elements[index] as HTMLMediaElement);
    if (found) audible.push(found);
  }
  return audible;
}

/**
 * Runs in the page, in an isolated world: the media elements of a document that play or are to autoplay and are
 * audible, at most `max`. It finds them even if the page withheld events or replaced functions.
 */
export const readMedia = composeScript(readDocumentMedia, { readElement });
