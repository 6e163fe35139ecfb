import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a page, frame, popup or worker reports about its device. */
export type DeviceReport = {
  where: string;
  userAgent: string;
  platform: string;
  languages: string[];
  timezone: string;
  /** Of what `Intl` formats by itself. */
  locale: string;
  cores: number;
  /** In GiB; null = the browser does not tell. */
  memory: number | null;
  /** High-entropy client hints as JSON; null: `navigator.userAgentData` is not there. */
  clientHints: {
    brands: { brand: string; version: string }[];
    mobile: boolean;
    platform: string;
    model: string;
    uaFullVersion: string;
  } | null;
  /** What Chromium has and Safari has not, as far as it is found. */
  unlikeSafari: string[];
  /** Replaced functions that a page can tell from native ones, each with how. */
  unlikeNative: string[];
  /** Who draws WebGL; null = there is none. */
  webgl: string | null;
  /** How wide a canvas makes the same text in fonts of several systems, in CSS pixels: what tells which fonts are there. */
  textWidths: number[];
  /** Of windows alone. */
  window?: {
    vendor: string;
    touchPoints: number;
    webdriver: boolean | undefined;
    screenWidth: number;
    width: number;
    pixelRatio: number;
    /** Whether style sheets are told of the same screen as scripts. */
    styled: boolean;
    /** How high the screen is without the system's bars, and the window with the browser's. */
    available: number;
    outer: number[];
    /** Where the window and its screen begin, in CSS pixels. */
    corner: number[];
    /** Whether there is another screen. */
    extended: boolean;
    plugins: number;
    /** What `navigator` says in a frame that was just added, and after it was removed. */
    addedFrame: { platform: string; language: string };
    removedFrame: { platform: string; language: string };
    chrome: boolean;
    /** The source of a function of `window.chrome`; null = it is not there. */
    chromeSource: string | null;
    /** What is known of notifications, told in two ways. */
    notifications: string[];
    hover: boolean;
    vibrates: boolean;
    /** Addresses that WebRTC finds. */
    addresses: string[];
  };
};

/** A script: `unlikeNative(more)` returns how a page can tell replaced functions from native ones; `more`: others than the device's, [owner, name]. */
export const UNLIKE_NATIVE = `
const addFrame = () => document.documentElement.appendChild(document.createElement('iframe'));
/** Those of frames print functions of their parents, too. */
const toStrings = () => {
  if (typeof window === 'undefined') return [Function.prototype.toString];
  const frame = addFrame();
  const { toString } = frame.contentWindow.Function.prototype;
  frame.remove();
  return [Function.prototype.toString, toString];
};
/** Whether a call reads what a list without arguments lacks. */
const readsArguments = (call) => {
  let reads = false;
  Object.defineProperty(Array.prototype, 0, { get: () => void (reads = true), configurable: true });
  try { call() } catch {}
  delete Array.prototype[0];
  return reads;
};
const unlikeNative = (more = []) => {
  const found = [];
  const prints = toStrings();
  const check = (fn, name, refuses) => {
    const expect = (fine, what) => fine || found.push(name + ': ' + what);
    for (const print of prints)
      expect(print.call(fn) === 'function ' + name + '() { [native code] }', 'prints ' + print.call(fn));
    expect(fn.name === name, 'is named ' + fn.name);
    expect(Object.getOwnPropertyNames(fn).sort().join() === 'length,name', 'has ' + Object.getOwnPropertyNames(fn));
    try {
      Object.setPrototypeOf(fn, Object.create(fn));
      expect(false, 'takes itself for a prototype');
    } catch (error) {
      expect(error.message === 'Cyclic __proto__ value', error.message);
      expect(/setPrototypeOf .*\\n +at check /.test(error.stack), error.stack);
    }
    expect(!Reflect.setPrototypeOf(fn, Object.create(fn)), 'takes itself for a prototype by Reflect');
    try {
      fn.call({});
      expect(!refuses, 'takes any receiver');
    } catch (error) {
      expect(error instanceof TypeError, error.name);
      // This function is the first to be seen; before it, only an error of the language has a line of the native function.
      const lines = error.stack.split('\\n').slice(1);
      expect(name !== 'toString' || / at Object.toString \\(<anonymous>\\)/.test(lines.shift()), error.stack);
      expect(/^ +at check /.test(lines[0]), error.stack);
    }
    expect(!readsArguments(() => fn.call({})), 'reads arguments that are not there');
    delete fn.name;
    expect(prints[0].call(fn) === 'function ' + name + '() { [native code] }', 'prints by its name ' + prints[0].call(fn));
    Object.defineProperty(fn, 'name', { value: name, configurable: true });
  };
  const getter = (owner, name, refuses = true) => {
    const property = Object.getOwnPropertyDescriptor(owner, name);
    if (property) check(property.get, 'get ' + name, refuses);
  };
  const ofNavigator = Object.getPrototypeOf(navigator);
  for (const name of ['platform', 'language', 'hardwareConcurrency', 'deviceMemory']) getter(ofNavigator, name);
  check(WebGLRenderingContext.prototype.getParameter, 'getParameter', true);
  check(Function.prototype.toString, 'toString', true);
  for (const [owner, name] of more) check(owner[name], name, owner !== window);
  if (readsArguments(() => console.log())) found.push('log');
  if (typeof window === 'undefined') return found;
  if (readsArguments(() => navigator.plugins)) found.push('plugins');
  for (const name of ['vendor', 'plugins', 'mimeTypes', 'pdfViewerEnabled']) getter(ofNavigator, name);
  for (const name of ['width', 'availHeight', 'availLeft', 'isExtended']) getter(Screen.prototype, name);
  for (const name of ['screenX', 'screenY']) getter(MouseEvent.prototype, name);
  getter(Notification, 'permission', false);
  if (navigator.connection) getter(NetworkInformation.prototype, 'rtt');
  check(PluginArray.prototype.item, 'item', true);
  const { plugins } = navigator;
  const isWhole = (plugin) => plugin[0].enabledPlugin === plugin && plugins.namedItem(plugin.name) === plugin;
  if (Object.getOwnPropertyNames(plugins).length !== 2 * plugins.length || ![...plugins].every(isWhole)) found.push('plugins');
  getter(window, 'devicePixelRatio', false);
  return found;
};`;

const TESTIFY = `${UNLIKE_NATIVE}
const addresses = async () => {
  const peer = new RTCPeerConnection({ iceServers: [] });
  peer.createDataChannel('x');
  const found = [];
  const done = new Promise((resolve) => {
    peer.onicecandidate = ({ candidate }) => (candidate ? candidate.address && found.push(candidate.address) : resolve());
  });
  await peer.setLocalDescription();
  await done;
  peer.close();
  return found;
};
const canvas = () => (typeof document === 'undefined' ? new OffscreenCanvas(300, 150) : document.createElement('canvas'));
const textWidths = () => {
  const context = canvas().getContext('2d');
  return ['Arial', 'Segoe UI', 'Helvetica Neue', 'Roboto', 'DejaVu Sans', 'monospace'].map((family) => {
    context.font = '72px "' + family + '", serif';
    return context.measureText('mmmmmmmmmmlli').width;
  });
};
const webgl = () => {
  const context = canvas().getContext('webgl');
  const info = context && context.getExtension('WEBGL_debug_renderer_info');
  return context && String(context.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : context.RENDERER));
};
const frameBorn = () => {
  const frame = addFrame();
  const { navigator } = frame.contentWindow;
  const told = () => ({ platform: navigator.platform, language: navigator.language });
  const addedFrame = told();
  frame.remove();
  return { addedFrame, removedFrame: told() };
};
const testify = async (where) => ({
  where,
  userAgent: navigator.userAgent,
  platform: navigator.platform,
  languages: [...navigator.languages],
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  locale: Intl.NumberFormat().resolvedOptions().locale,
  cores: navigator.hardwareConcurrency,
  memory: navigator.deviceMemory ?? null,
  clientHints: navigator.userAgentData
    ? JSON.parse(JSON.stringify(await navigator.userAgentData.getHighEntropyValues(['model', 'platformVersion', 'uaFullVersion'])))
    : null,
  unlikeSafari: ['NavigatorUAData', 'NetworkInformation', 'showOpenFilePicker', 'BeforeInstallPromptEvent', 'gpu', 'runAdAuction', 'managed', 'xr', 'webkitTemporaryStorage']
    .filter((name) => name in globalThis || name in navigator),
  unlikeNative: unlikeNative(),
  webgl: webgl(),
  textWidths: textWidths(),
  window: typeof window === 'undefined' ? undefined : {
    vendor: navigator.vendor,
    touchPoints: navigator.maxTouchPoints,
    webdriver: navigator.webdriver,
    screenWidth: screen.width,
    width: innerWidth,
    pixelRatio: devicePixelRatio,
    styled: matchMedia('(device-width: ' + screen.width + 'px) and (resolution: ' + devicePixelRatio + 'dppx)').matches,
    available: screen.availHeight,
    outer: [outerWidth, outerHeight],
    corner: [screenX, screenY, screen.availLeft, screen.availTop],
    extended: screen.isExtended,
    plugins: navigator.plugins.length,
    ...frameBorn(),
    chrome: 'chrome' in window,
    chromeSource: window.chrome ? String(chrome.csi) : null,
    notifications: [Notification.permission, (await navigator.permissions.query({ name: 'notifications' })).state],
    hover: matchMedia('(hover: hover)').matches,
    vibrates: 'vibrate' in navigator,
    addresses: await addresses(),
  },
});`;

const PAGE = `<!doctype html><meta name=viewport content="width=device-width"><script>${TESTIFY}
const heard = [];
const hear = (report) => report.where && heard.push(report);
const clicks = [];
addEventListener('click', ({ screenX, screenY, clientX, clientY }) => clicks.push([screenX - clientX, screenY - clientY]));
if (location.pathname === '/frame') testify('frame').then((said) => parent.postMessage(said, '*'));
else if (location.pathname === '/popup') testify('popup').then((said) => (window.said = said));
else {
  onmessage = (event) => hear(event.data);
  testify('page').then(hear);
  new Worker('/worker.js').onmessage = (event) => hear(event.data);
  new SharedWorker('/shared.js').port.onmessage = (event) => hear(event.data);
  navigator.serviceWorker.onmessage = (event) => hear(event.data);
  navigator.serviceWorker.register('/service.js')
    .then(() => navigator.serviceWorker.ready)
    .then((registration) => registration.active.postMessage('testify'));
}
</script>`;

const SCRIPTS: Record<string, string> = {
  '/worker.js': `${TESTIFY} testify('worker').then(postMessage); new Worker('/nested.js').onmessage = (event) => postMessage(event.data);`,
  '/nested.js': `importScripts('/by-nested.js'); ${TESTIFY} new Worker('/deep.js').onmessage = (event) => postMessage(event.data); fetch('/fetched-by-nested.js').then(() => testify('nested worker')).then((said) => postMessage(said));`,
  '/deep.js': `${TESTIFY} testify('worker at depth three').then((said) => postMessage(said));`,
  '/shared.js': `${TESTIFY} onconnect = (event) => testify('shared worker').then((said) => event.ports[0].postMessage(said));`,
  '/by-nested.js': '',
  '/by-service.js': '',
  '/fetched-by-nested.js': '',
  '/service.js': `importScripts('/by-service.js'); ${TESTIFY} onmessage = (event) => testify('service worker').then((said) => event.source.postMessage(said));`,
};

/** Client hints that the site asks for. */
export const HINTS = ['dpr', 'device-memory', 'sec-ch-dpr', 'sec-ch-device-memory', 'sec-ch-ua-form-factors'];

/** A site that asks everything that runs in a page about the device, and keeps the headers of each request by path. */
export class DeviceSite {
  readonly headers = new Map<string, IncomingHttpHeaders>();
  /** The names of those headers as they were sent, in their order. */
  readonly headerNames = new Map<string, string[]>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '';
      this.headers.set(path, request.headers);
      this.headerNames.set(
        path,
        request.rawHeaders.filter((_, index) => index % 2 === 0),
      );
      const script = SCRIPTS[path];
      if (script !== undefined) return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
      const frame = path === '/' ? '<iframe src="http://other.localhost/frame"></iframe>' : '';
      response
        .writeHead(200, { 'content-type': 'text/html', 'accept-ch': HINTS.join() })
        .end(path === '/favicon.ico' ? '' : PAGE + frame);
    });
  }

  static async start(): Promise<DeviceSite> {
    const site = new DeviceSite();
    await new Promise<void>((resolve) => site.#server.listen(0, '127.0.0.1', resolve));
    return site;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
