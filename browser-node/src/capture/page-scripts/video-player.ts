/** A thing that is shown below or over the video; sizes in CSS pixels. `over`: where over it, as CSS; null = below it. */
export type ShownResource = {
  id: string;
  form: 'static' | 'iframe' | 'html';
  value: string;
  width: number;
  height: number;
  over: string | null;
};

/** What has become of a thing that is shown: 'failed' = its picture did not come. */
export type ResourceState = 'loading' | 'loaded' | 'failed';

/** Where something stands in the page, in CSS pixels. */
export type Box = { x: number; y: number; width: number; height: number };

/** What a video does at one moment; times in seconds as the element tells them, `error` its MediaError's code, 0 = none. */
export type VideoState = {
  time: number;
  duration: number;
  ready: number;
  ended: boolean;
  error: number;
  width: number;
  height: number;
  clicks: number;
};

/** All that the player's page is told to do, by name. */
export type PlayerCommand =
  | { do: 'mount'; width: number; height: number }
  | { do: 'load'; url: string }
  | { do: 'play'; rate: number }
  | { do: 'state' }
  | { do: 'fire'; urls: string[] }
  | { do: 'on_click'; url: string; trackers: string[] }
  | { do: 'show'; resource: ShownResource }
  | { do: 'resource_state'; id: string }
  | { do: 'remove'; ids: string[] }
  | { do: 'box'; id: string };

/**
 * Runs in the page, in a world of its own that lasts as long as its document: a video player as publishers have them. What it is told to
 * do is decided outside; it asks for trackers as players do, by pictures of one pixel. Answers what the command asks for.
 */
export function playerCommand(command: PlayerCommand): VideoState | Box | ResourceState | boolean | null {
  type Player = {
    video: HTMLVideoElement;
    area: HTMLElement;
    clicks: number;
    pixels: HTMLImageElement[];
    asked: Set<string>;
    open: () => void;
  };
  const store = globalThis as { adsweepPlayer?: Player };
  const boxOf = (element: Element): Box => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: x + scrollX, y: y + scrollY, width, height };
  };
  const fire = (urls: string[]) => {
    const player = store.adsweepPlayer;
    for (const url of urls) {
      if (player?.asked.has(url)) {
        // Chromium would take a picture that it asked for before from its memory.
        const secure = location.protocol === 'https:' ? url.replace(/^http:/i, 'https:') : url;
        fetch(secure, { mode: 'no-cors', credentials: 'include', cache: 'no-store', keepalive: true }).catch(
          () => null,
        );
        continue;
      }
      player?.asked.add(url);
      const pixel = new Image(1, 1);
      pixel.src = url;
      player?.pixels.push(pixel);
    }
  };
  const mount = (width: number, height: number) => {
    const area = document.createElement('div');
    area.style.cssText = `position:relative;width:${width}px;height:${height}px;background:#000;overflow:hidden`;
    const video = document.createElement('video');
    video.style.cssText = 'width:100%;height:100%;display:block;object-fit:contain';
    video.muted = true;
    video.playsInline = true;
    video.preload = 'auto';
    area.append(video);
    document.body.prepend(area);
    const player: Player = { video, area, clicks: 0, pixels: [], asked: new Set(), open: () => undefined };
    area.addEventListener('click', () => {
      player.clicks += 1;
      player.open();
    });
    store.adsweepPlayer = player;
  };
  const show = ({ id, form, value, width, height, over }: ShownResource) => {
    const element = form === 'static' ? document.createElement('img') : document.createElement('iframe');
    if (element instanceof HTMLImageElement) element.src = value;
    else if (form === 'iframe') element.src = value;
    else element.srcdoc = value;
    element.id = id;
    element.setAttribute('width', String(width));
    element.setAttribute('height', String(height));
    element.style.cssText = `border:0;display:block;${over === null ? 'margin:8px 0' : `position:absolute;${over}`}`;
    (over === null ? document.body : (store.adsweepPlayer?.area ?? document.body)).append(element);
  };
  // A picture that did not come shows nothing. What a frame shows cannot be seen from here.
  const stateOf = (element: Element): ResourceState => {
    if (!(element instanceof HTMLImageElement)) return 'loaded';
    if (!element.complete) return 'loading';
    return element.naturalWidth === 0 ? 'failed' : 'loaded';
  };
  if (command.do === 'mount') {
    mount(command.width, command.height);
    return true;
  }
  const player = store.adsweepPlayer;
  if (!player) return null;
  const { video } = player;
  switch (command.do) {
    case 'load':
      video.src = command.url;
      video.load();
      return true;
    case 'play':
      video.playbackRate = command.rate;
      video.play().catch(() => undefined);
      return true;
    case 'fire':
      fire(command.urls);
      return true;
    case 'on_click':
      player.open = () => {
        player.open = () => undefined;
        fire(command.trackers);
        video.pause();
        if (command.url) window.open(command.url, '_blank');
      };
      return true;
    case 'show':
      show(command.resource);
      return true;
    case 'box': {
      const element = command.id === '' ? player.area : document.getElementById(command.id);
      return element && stateOf(element) !== 'failed' ? boxOf(element) : null;
    }
    case 'resource_state': {
      const element = document.getElementById(command.id);
      return element ? stateOf(element) : 'failed';
    }
    case 'remove':
      for (const id of command.ids) document.getElementById(id)?.remove();
      return true;
    case 'state':
      return {
        time: video.currentTime,
        duration: Number.isFinite(video.duration) ? video.duration : 0,
        ready: video.readyState,
        ended: video.ended,
        error: video.error?.code ?? 0,
        width: video.videoWidth,
        height: video.videoHeight,
        clicks: player.clicks,
      };
  }
}
