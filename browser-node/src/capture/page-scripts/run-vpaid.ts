/** What a VPAID ad is started with (VPAID 2.0, 3.2.2); sizes in CSS pixels, `bitrate` in kbit/s. */
export type VpaidStart = {
  script: string;
  token: string;
  width: number;
  height: number;
  bitrate: number;
  adParameters: string;
};

/**
 * Runs in a frame of its own beside the video: loads a VPAID 2.0 ad, shakes hands with it, and tells its parent of each of its events as
 * `{ token, event, values }`. It starts the ad when it has loaded, and stops it when its parent says so.
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
