import type { Box } from '../box.ts';
import { composeScript } from './compose-script.ts';

/**
 * A resource that is shown below or over the video; sizes in CSS pixels. `over`: its position over the video, as CSS;
 * null: it is below.
 */
export type ShownResource = {
  id: string;
  form: 'static' | 'iframe' | 'html';
  value: string;
  width: number;
  height: number;
  over: string | null;
};

/** The state of a resource that is shown; 'failed': its image did not load. */
export type ResourceState = 'loading' | 'loaded' | 'failed';

/** The state of a video element: times in seconds, `error`: the code of its MediaError, 0 = none. */
export type VideoState = {
  time: number;
  duration: number;
  ready: number;
  ended: boolean;
  error: number;
  width: number;
  height: number;
};

/** The commands of the player's page, by name. */
export type PlayerCommand =
  | { do: 'mount'; width: number; height: number }
  | { do: 'load'; url: string }
  | { do: 'play'; rate: number }
  | { do: 'state' }
  | { do: 'fire'; urls: string[] }
  | { do: 'await_click'; url: string; trackers: string[] }
  | { do: 'end_click' }
  | { do: 'show'; resource: ShownResource }
  | { do: 'resource_state'; id: string }
  | { do: 'remove'; ids: string[] }
  | { do: 'box'; id: string }
  | { do: 'centre'; id: string }
  | { do: 'open'; url: string };

/** A player as its isolated world keeps it between commands. */
type Player = {
  video: HTMLVideoElement;
  area: HTMLElement;
  pixels: HTMLImageElement[];
  requested: Set<string>;
  /** What is shown, by id. */
  shown: Map<string, HTMLElement>;
  /** What the next click does; null = nothing. */
  onClick: (() => void) | null;
};
/** By a symbol: elements of the page shadow names that are not taken. */
export type PlayerStore = { [player: symbol]: Player | undefined };

function mountPlayer(width: number, height: number): Player {
  const area = document.createElement('div');
  area.style.cssText = `position:relative;width:${width}px;height:${height}px;background:#000;overflow:hidden`;
  const video = document.createElement('video');
  video.style.cssText = 'width:100%;height:100%;display:block;object-fit:contain';
  video.muted = true;
  video.playsInline = true;
  video.preload = 'auto';
  // Scripts of ads in frames of the page's origin cannot find what is in a closed shadow root without a frame of
  // theirs.
  const host = document.createElement('div');
  host.style.cssText = 'width:100%;height:100%';
  host.attachShadow({ mode: 'closed' }).append(video);
  area.append(host);
  (document.querySelector('main') ?? document.body).prepend(area);
  const player: Player = { video, area, pixels: [], requested: new Set(), shown: new Map(), onClick: null };
  area.addEventListener('click', ({ isTrusted }) => {
    const { onClick } = player;
    if (!isTrusted || !onClick) return;
    player.onClick = null;
    onClick();
  });
  return player;
}

/** Requests trackers as players do, by images of one pixel. */
function fireTrackers({ requested, pixels }: Player, urls: string[]): void {
  for (const url of urls) {
    if (requested.has(url)) {
      // Chromium would take an image that it requested before from memory.
      const secure = location.protocol === 'https:' ? url.replace(/^http:/i, 'https:') : url;
      fetch(secure, { mode: 'no-cors', credentials: 'include', cache: 'no-store', keepalive: true }).catch(() => null);
      continue;
    }
    requested.add(url);
    const pixel = new Image(1, 1);
    pixel.src = url;
    pixels.push(pixel);
  }
}

function showResource({ area, shown }: Player, { id, form, value, width, height, over }: ShownResource): void {
  // Through prototypes: scripts of ads that reach the page may have added elements that shadow properties of its
  // document.
  const create = (name: 'img' | 'iframe') => Document.prototype.createElement.call(document, name);
  const element = create(form === 'static' ? 'img' : 'iframe') as HTMLImageElement | HTMLIFrameElement;
  if (element instanceof HTMLImageElement) element.src = value;
  else if (form === 'iframe') element.src = value;
  else element.srcdoc = value;
  shown.set(id, element);
  element.setAttribute('width', String(width));
  element.setAttribute('height', String(height));
  element.style.cssText = `border:0;display:block;${over === null ? 'margin:8px 0' : `position:absolute;${over}`}`;
  (over === null ? (area.parentElement ?? Reflect.get(Document.prototype, 'body', document)) : area).append(element);
}

/**
 * The state of a resource's element: an image that did not load shows nothing. What a frame shows cannot be seen from
 * here.
 */
function resourceState(element: Element | undefined): ResourceState {
  if (element === undefined) return 'failed';
  if (!(element instanceof HTMLImageElement)) return 'loaded';
  if (!element.complete) return 'loading';
  return element.naturalWidth === 0 ? 'failed' : 'loaded';
}

function videoState({ video }: Player): VideoState {
  return {
    time: video.currentTime,
    duration: Number.isFinite(video.duration) ? video.duration : 0,
    ready: video.readyState,
    ended: video.ended,
    error: video.error?.code ?? 0,
    width: video.videoWidth,
    height: video.videoHeight,
  };
}

const PARTS = { mountPlayer, fireTrackers, showResource, resourceState, videoState };

/**
 * Runs in the page, in an isolated world that lasts as long as its document: a video player as publishers have them.
 * The node decides what it does. Returns what the command asks for; null: there is no player.
 */
export const playerCommand = composeScript(function playerCommand(
  command: PlayerCommand,
  parts: typeof PARTS,
): VideoState | Box | ResourceState | boolean | null {
  const store = globalThis as PlayerStore;
  const kept = Symbol.for('player');
  if (command.do === 'mount') {
    store[kept] = parts.mountPlayer(command.width, command.height);
    return true;
  }
  const player = store[kept];
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
      parts.fireTrackers(player, command.urls);
      return true;
    case 'await_click':
      player.onClick = () => {
        parts.fireTrackers(player, command.trackers);
        video.pause();
        window.open(command.url, '_blank');
      };
      return true;
    case 'end_click': {
      const isClicked = player.onClick === null;
      player.onClick = null;
      return isClicked;
    }
    case 'show':
      parts.showResource(player, command.resource);
      return true;
    case 'box': {
      const element = command.id === '' ? player.area : player.shown.get(command.id);
      if (!element || parts.resourceState(element) === 'failed') return null;
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x: x + scrollX, y: y + scrollY, width, height };
    }
    case 'centre': {
      const element = command.id === '' ? player.area : player.shown.get(command.id);
      if (!element) return null;
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2, width: 0, height: 0 };
    }
    case 'open':
      window.open(command.url, '_blank');
      return true;
    case 'resource_state':
      return parts.resourceState(player.shown.get(command.id));
    case 'remove':
      for (const id of command.ids) player.shown.get(id)?.remove();
      return true;
    case 'state':
      return parts.videoState(player);
  }
}, PARTS);
