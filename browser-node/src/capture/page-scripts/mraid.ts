/**
 * Runs in the page, in place of `mraid.js`: a container as MRAID 3.0 (IAB, 2018) describes it, with an inline placement that is in view
 * from the start. `open` opens a tab, `expand` and `resize` give the ad more room, `close` takes it back, `unload` removes it. The second part of
 * a two-part expandable is a frame of its own, whose container is expanded from the start.
 */
export function mraid(): void {
  type Listener = (...values: unknown[]) => void;
  const slot = document.querySelector('#ad-slot') as HTMLElement | null;
  const listeners: Record<string, Listener[]> = {};
  const screenSize = () => ({ width: innerWidth, height: innerHeight });
  const position = () => {
    const { x, y, width, height } = slot?.getBoundingClientRect() ?? { x: 0, y: 0, ...screenSize() };
    return { x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) };
  };
  const first = position();
  const SECOND_PART = 'mraid-second-part';
  const isSecondPart = window.name === SECOND_PART;
  /** The least that an ad may be resized to, room for the close button included (MRAID 3.0, 4.2). */
  const SMALLEST = 50;
  let state = 'loading';
  let isResizable = false;
  const resizing = {
    width: first.width,
    height: first.height,
    offsetX: 0,
    offsetY: 0,
    customClosePosition: 'top-right',
    allowOffscreen: true,
  };
  const expanding = { ...screenSize(), useCustomClose: false, isModal: true };
  const orientation = { allowOrientationChange: true, forceOrientation: 'none' };
  const report = (event: string, ...values: unknown[]) => {
    for (const listener of [...(listeners[event] ?? [])]) listener(...values);
  };
  const become = (next: string) => {
    state = next;
    report('stateChange', state);
  };
  const give = (width: number, height: number) => {
    if (slot) Object.assign(slot.style, { width: `${width}px`, height: `${height}px` });
    report('sizeChange', width, height);
  };
  const hide = () => {
    become('hidden');
    report('viewableChange', false);
    report('exposureChange', 0, null, null);
  };
  const fitsScreen = ({ width, height, allowOffscreen }: typeof resizing) =>
    Math.min(width, height) >= SMALLEST && (allowOffscreen || (width <= innerWidth && height <= innerHeight));
  const refuse = (message: string, action: string) => report('error', message, action);
  const FEATURES = new Set(['inlineVideo', 'tel', 'sms']);
  const api = {
    getVersion: () => '3.0',
    getState: () => state,
    getPlacementType: () => 'inline',
    isViewable: () => state !== 'loading' && state !== 'hidden',
    supports: (feature: string) => FEATURES.has(feature),
    addEventListener: (event: string, listener: Listener) => {
      const known = listeners[event] ?? [];
      listeners[event] = known.includes(listener) ? known : [...known, listener];
      // One who listens late learns what is so already (MRAID 3.0, 7).
      if (state === 'loading') return;
      if (event === 'exposureChange') setTimeout(listener, 0, 100, position(), null);
      if (event === 'viewableChange') setTimeout(listener, 0, true);
      if (event === 'audioVolumeChange') setTimeout(listener, 0, 0);
    },
    removeEventListener: (event: string, listener?: Listener) => {
      listeners[event] = listener ? (listeners[event] ?? []).filter((known) => known !== listener) : [];
    },
    open: (url: string) => void window.open(url, '_blank'),
    playVideo: (url: string) => void window.open(url, '_blank'),
    expand: (url?: string) => {
      if (state !== 'default' && state !== 'resized') return refuse('it is expanded already', 'expand');
      if (url && slot) {
        const frame = document.createElement('iframe');
        Object.assign(frame, { name: SECOND_PART, src: url, style: 'width:100%;height:100%;border:0;display:block' });
        slot.replaceChildren(frame);
      }
      give(expanding.width, expanding.height);
      become('expanded');
    },
    resize: () => {
      if (state !== 'default' && state !== 'resized') return refuse(`it is ${state}`, 'resize');
      if (!isResizable) return refuse('no resize properties were set', 'resize');
      if (!fitsScreen(resizing)) return refuse('the size does not fit', 'resize');
      give(resizing.width, resizing.height);
      become('resized');
    },
    close: () => {
      if (state === 'default') {
        if (slot) slot.hidden = true;
        return hide();
      }
      if (state !== 'expanded' && state !== 'resized') return;
      give(first.width, first.height);
      become('default');
    },
    unload: () => {
      slot?.replaceChildren();
      hide();
    },
    useCustomClose: (own: boolean) => void Object.assign(expanding, { useCustomClose: own }),
    getExpandProperties: () => ({ ...expanding }),
    setExpandProperties: (properties: object) => void Object.assign(expanding, properties, { isModal: true }),
    getResizeProperties: () => ({ ...resizing }),
    setResizeProperties: (properties: object) => {
      Object.assign(resizing, properties);
      isResizable = true;
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
  const begin = () => {
    become(isSecondPart ? 'expanded' : 'default');
    report('ready');
    report('viewableChange', true);
    report('exposureChange', 100, position(), null);
  };
  // What a container reports of itself (MRAID 3.0, 3.1): no identifier of a user.
  const environment = { version: '3.0', sdk: 'sdk', sdkVersion: '1.0', limitAdTracking: true, coppa: false };
  Object.defineProperty(window, 'MRAID_ENV', { value: environment, configurable: true, enumerable: true });
  Object.defineProperty(window, 'mraid', { value: api, configurable: true, enumerable: true });
  if (document.readyState === 'complete') setTimeout(begin, 0);
  else window.addEventListener('load', () => setTimeout(begin, 0));
}
