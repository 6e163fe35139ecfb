import { composeScript } from './compose-script.ts';

type Listener = (...values: unknown[]) => void;
type Report = (event: string, ...values: unknown[]) => void;

/** The event listeners of a container. `replay`: reports to a late listener what is the case already (MRAID 3.0, 7). */
function mraidEvents(replay: (event: string, listener: Listener) => void) {
  const listeners: Record<string, Listener[]> = {};
  return {
    addEventListener: (event: string, listener: Listener) => {
      const known = listeners[event] ?? [];
      listeners[event] = known.includes(listener) ? known : [...known, listener];
      replay(event, listener);
    },
    removeEventListener: (event: string, listener?: Listener) => {
      listeners[event] = listener ? (listeners[event] ?? []).filter((known) => known !== listener) : [];
    },
    report: ((event, ...values) => {
      for (const listener of [...(listeners[event] ?? [])]) listener(...values);
    }) as Report,
  };
}

/** The placement of a container: its state and its size. */
function mraidPlacement(slot: HTMLElement | null, report: Report) {
  const SECOND_PART = 'mraid-second-part';
  const isSecondPart = window.name === SECOND_PART;
  /** The smallest size that an ad may be resized to, including the close button (MRAID 3.0, 4.2). */
  const SMALLEST = 50;
  const screenSize = () => ({ width: innerWidth, height: innerHeight });
  const position = () => {
    const { x, y, width, height } = slot?.getBoundingClientRect() ?? { x: 0, y: 0, ...screenSize() };
    return { x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) };
  };
  const first = position();
  const expanding = { ...screenSize(), useCustomClose: false, isModal: true };
  const resizing = {
    width: first.width,
    height: first.height,
    offsetX: 0,
    offsetY: 0,
    customClosePosition: 'top-right',
    allowOffscreen: true,
  };
  let state = 'loading';
  let isResizable = false;
  const enter = (next: string) => {
    state = next;
    report('stateChange', state);
  };
  const setSize = (width: number, height: number) => {
    if (slot) Object.assign(slot.style, { width: `${width}px`, height: `${height}px` });
    report('sizeChange', width, height);
  };
  const hide = () => {
    enter('hidden');
    report('viewableChange', false);
    report('exposureChange', 0, null, null);
  };
  const fitsScreen = ({ width, height, allowOffscreen }: typeof resizing) =>
    Math.min(width, height) >= SMALLEST && (allowOffscreen || (width <= innerWidth && height <= innerHeight));
  const refuse = (message: string, action: string) => report('error', message, action);
  return {
    state: () => state,
    position,
    first,
    screenSize,
    expanding,
    resizing,
    refuse,
    allowResize: () => {
      isResizable = true;
    },
    begin: () => {
      enter(isSecondPart ? 'expanded' : 'default');
      report('ready');
      report('viewableChange', true);
      report('exposureChange', 100, position(), null);
    },
    expand: (url?: string) => {
      if (state !== 'default' && state !== 'resized') return refuse('it is expanded already', 'expand');
      if (url && slot) {
        const frame = document.createElement('iframe');
        Object.assign(frame, { name: SECOND_PART, src: url, style: 'width:100%;height:100%;border:0;display:block' });
        slot.replaceChildren(frame);
      }
      setSize(expanding.width, expanding.height);
      enter('expanded');
    },
    resize: () => {
      if (state !== 'default' && state !== 'resized') return refuse(`it is ${state}`, 'resize');
      if (!isResizable) return refuse('no resize properties were set', 'resize');
      if (!fitsScreen(resizing)) return refuse('the size does not fit', 'resize');
      setSize(resizing.width, resizing.height);
      enter('resized');
    },
    close: () => {
      if (state === 'default') {
        if (slot) slot.hidden = true;
        return hide();
      }
      if (state !== 'expanded' && state !== 'resized') return;
      setSize(first.width, first.height);
      enter('default');
    },
    unload: () => {
      slot?.replaceChildren();
      hide();
    },
  };
}

/** The `mraid` object of a container. */
function mraidApi(
  events: Pick<ReturnType<typeof mraidEvents>, 'addEventListener' | 'removeEventListener'>,
  placement: ReturnType<typeof mraidPlacement>,
) {
  const { state, position, first, screenSize, expanding, resizing, refuse } = placement;
  const FEATURES = new Set(['inlineVideo', 'tel', 'sms']);
  const orientation = { allowOrientationChange: true, forceOrientation: 'none' };
  return {
    getVersion: () => '3.0',
    getState: state,
    getPlacementType: () => 'inline',
    isViewable: () => state() !== 'loading' && state() !== 'hidden',
    supports: (feature: string) => FEATURES.has(feature),
    addEventListener: events.addEventListener,
    removeEventListener: events.removeEventListener,
    open: (url: string) => void window.open(url, '_blank'),
    playVideo: (url: string) => void window.open(url, '_blank'),
    expand: placement.expand,
    resize: placement.resize,
    close: placement.close,
    unload: placement.unload,
    useCustomClose: (own: boolean) => void Object.assign(expanding, { useCustomClose: own }),
    getExpandProperties: () => ({ ...expanding }),
    setExpandProperties: (properties: object) => void Object.assign(expanding, properties, { isModal: true }),
    getResizeProperties: () => ({ ...resizing }),
    setResizeProperties: (properties: object) => {
      Object.assign(resizing, properties);
      placement.allowResize();
    },
    getOrientationProperties: () => ({ ...orientation }),
    setOrientationProperties: (properties: object) => void Object.assign(orientation, properties),
    getCurrentAppOrientation: () => ({
      orientation: innerWidth > innerHeight ? 'landscape' : 'portrait',
      locked: false,
    }),
    getCurrentPosition: position,
    getDefaultPosition: () => ({ ...first }),
    getMaxSize: screenSize,
    getScreenSize: screenSize,
    getLocation: () => -1,
    getAudioVolume: () => 0,
    storePicture: () => refuse('it is not supported', 'storePicture'),
    createCalendarEvent: () => refuse('it is not supported', 'createCalendarEvent'),
    initVpaid: () => undefined,
  };
}

const PARTS = { mraidEvents, mraidPlacement, mraidApi };

/**
 * Runs in the page, in place of `mraid.js`: a container as MRAID 3.0 (IAB, 2018) describes it, with an inline placement
 * that is in view from the start. `open` opens a tab, `expand` and `resize` enlarge the ad, `close` restores its size,
 * `unload` removes it. The second part of a two-part expandable is a frame of its own, whose container is expanded from
 * the start.
 */
export const mraid = composeScript(function mraid(_: undefined, parts: typeof PARTS): void {
  const slot = document.querySelector('#ad-slot') as HTMLElement | null;
  const events = parts.mraidEvents((event, listener) => {
    if (placement.state() === 'loading') return;
    if (event === 'exposureChange') setTimeout(listener, 0, 100, placement.position(), null);
    if (event === 'viewableChange') setTimeout(listener, 0, true);
    if (event === 'audioVolumeChange') setTimeout(listener, 0, 0);
  });
  const placement = parts.mraidPlacement(slot, events.report);
  const api = parts.mraidApi(events, placement);
  // What a container reports about itself (MRAID 3.0, 3.1): no identifier of a user.
  const environment = { version: '3.0', sdk: 'sdk', sdkVersion: '1.0', limitAdTracking: true, coppa: false };
  Object.defineProperty(window, 'MRAID_ENV', { value: environment, configurable: true, enumerable: true });
  Object.defineProperty(window, 'mraid', { value: api, configurable: true, enumerable: true });
  if (document.readyState === 'complete') setTimeout(placement.begin, 0);
  else window.addEventListener('load', () => setTimeout(placement.begin, 0));
}, PARTS);
