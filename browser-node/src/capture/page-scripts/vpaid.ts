import type { PlayerStore } from './video-player.ts';

/** The parameters of a VPAID ad (VPAID 2.0, 3.2.2); sizes in CSS pixels, `bitrate` in kbit/s. */
export type VpaidStart = {
  script: string;
  token: string;
  width: number;
  height: number;
  bitrate: number;
  adParameters: string;
};

/**
 * Runs in a frame of its own beside the video: loads a VPAID 2.0 ad, performs the handshake and reports each of its
 * events to the parent as `{ token, event, values }`. It starts the ad when it has loaded, and stops it when the parent
 * asks for that.
 */
export function runVpaid({ script, token, width, height, bitrate, adParameters }: VpaidStart): void {
  type Ad = Record<string, (...values: unknown[]) => unknown>;
  const EVENTS =
    'AdLoaded AdStarted AdStopped AdSkipped AdImpression AdVideoStart AdVideoFirstQuartile AdVideoMidpoint AdVideoThirdQuartile ' +
    'AdVideoComplete AdClickThru AdInteraction AdUserAcceptInvitation AdUserMinimize AdUserClose AdPaused AdPlaying AdError AdLog ' +
    'AdVolumeChange AdLinearChange AdExpandedChange AdDurationChange AdSkippableStateChange AdSizeChange AdRemainingTimeChange';
  const report = (event: string, values: unknown[] = []) =>
    parent.postMessage({ token, event, values: values.map(String).slice(0, 5) }, '*');
  const fail = (error: unknown) => report('AdError', [error]);
  const begin = () => {
    const make = (window as { getVPAIDAd?: () => Ad }).getVPAIDAd;
    if (!make) return fail('the script has no getVPAIDAd');
    const ad = make();
    report('handshake', [ad.handshakeVersion?.('2.0')]);
    for (const event of EVENTS.split(' '))
      ad.subscribe?.(
        (...values: unknown[]) => {
          report(event, values);
          if (event === 'AdLoaded') ad.startAd?.();
        },
        event,
        window,
      );
    addEventListener('message', ({ data }) => {
      if (data?.token === token && data.command === 'stop') ad.stopAd?.();
    });
    const slot = document.getElementById('slot');
    const videoSlot = document.getElementById('video');
    ad.initAd?.(
      width,
      height,
      'normal',
      bitrate,
      { AdParameters: adParameters },
      { slot, videoSlot, videoSlotCanAutoPlay: true },
    );
  };
  const element = document.createElement('script');
  element.src = script;
  element.onerror = () => fail('the script could not be loaded');
  element.onload = () => {
    try {
      begin();
    } catch (error) {
      fail(error);
    }
  };
  document.head.append(element);
}

/** An event of a VPAID ad; `atMs` as Unix time. */
export type VpaidMessage = { event: string; values: string[]; atMs: number };

/**
 * `frame`: the id of the ad's frame among what the player shows, '' = it is not shown yet; `stop`: asks the ad to stop.
 */
export type VpaidRequest = { token: string; frame: string; stop: boolean };

/**
 * Runs in the page, in an isolated world: collects the messages of frames, and returns those of a VPAID ad's frame
 * since the last call. Any frame may send messages and read the token in another frame's markup: what counts is which
 * frame sent them.
 */
export function vpaidMessages({ token, frame, stop }: VpaidRequest): VpaidMessage[] {
  const MESSAGES_MAX = 500;
  type Received = { source: MessageEventSource | null; message: VpaidMessage };
  const store = globalThis as { [kept: symbol]: Received[] | undefined };
  const kept = Symbol.for('vpaid messages');
  const received = store[kept] ?? [];
  if (!store[kept]) {
    store[kept] = received;
    const counts = new Map<MessageEventSource | null, number>();
    const receive = ({ data, source }: MessageEvent) => {
      const count = counts.get(source) ?? 0;
      if (typeof data?.token !== 'string' || typeof data.event !== 'string' || count >= MESSAGES_MAX) return;
      counts.set(source, count + 1);
      const values = Array.isArray(data.values)
        ? data.values.slice(0, 5).map((one: unknown) => String(one).slice(0, 2_000))
        : [];
      received.push({ source, message: { event: data.event.slice(0, 100), values, atMs: Date.now() } });
    };
    // An element of the page can have the name of a method of event targets.
    EventTarget.prototype.addEventListener.call(globalThis, 'message', receive as EventListener);
  }
  const element = (globalThis as PlayerStore)[Symbol.for('player')]?.shown.get(frame);
  const ad = element instanceof HTMLIFrameElement ? element.contentWindow : null;
  if (stop) ad?.postMessage({ token, command: 'stop' }, '*');
  const all = received.splice(0);
  return all.filter(({ source }) => ad !== null && source === ad).map(({ message }) => message);
}
