/** Features of Chromium that would make a capture differ from what the page did. */
const DISABLED_FEATURES = [
  // http stays http: an upgrade by the browser would be a hop that the site never made.
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  // Third-party frames keep the storage that ad code expects.
  'ThirdPartyStoragePartitioning',
  // The old page is not painted while the new one loads, which would spoil screenshots.
  'PaintHolding',
  // Redirected cross-origin requests survive while requests are intercepted.
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  // No spare renderers: most would never be used, and they cost a tenth of a capture's CPU.
  'SpareRendererForSitePerProcess',
  // The browser's own traffic.
  'MediaRouter',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'PreconnectToSearch',
];

const ENABLED_FEATURES = [
  // Screenshots larger than the window.
  'CDPScreenshotNewSurface',
  // The process of a document starts once its answer begins, not as it is requested: none starts for the sites that
  // only redirect, and a page that requests many is seen before their processes start.
  'DeferSpeculativeRFHCreation:create_speculative_rfh_delay_ms/600000',
];

/** How this machine's Chromium is started. */
const LOCAL_FLAGS = [
  '--headless',
  // No window and no page before a context is opened.
  '--no-startup-window',

  // The only connection is a pipe: no other process can connect, and Chromium ends when this process does.
  '--remote-debugging-pipe',
];

const FLAGS = [
  // Requests outside a context with an exit go to a proxy that does not exist.
  '--proxy-server=http://127.0.0.1:1',
  // UDP does not go through the exits: no QUIC, and WebRTC only through the proxy (one flag is for the headless shell,
  // the other for full Chromium).
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',

  // Each site in its own process: hostile frames are isolated, and every cross-site frame is a target that can be
  // observed.
  '--site-per-process',
  // `navigator.webdriver` is false.
  '--disable-blink-features=AutomationControlled',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
  `--enable-features=${ENABLED_FEATURES.join(',')}`,

  // No traffic of the browser's own.
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-component-extensions-with-background-pages',
  '--disable-field-trial-config',
  '--disable-breakpad',
  '--disable-search-engine-choice-screen',
  '--metrics-recording-only',

  // Every tab counts as visible, like the active tab of a user.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  // Going Back loads the page again, so that its requests are seen.
  '--disable-back-forward-cache',
  '--disable-hang-monitor',
  '--disable-prompt-on-repost',

  // A desktop has a mouse that can hover; touch emulation overrides it for phones and tablets.
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--mute-audio',
  // A container's /dev/shm is small.
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--password-store=basic',
  '--use-mock-keychain',
];

/** The user agent of requests that no device override applies to: at least it is not headless. */
const fallbackUserAgent = (major: number): string =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;

/** No name is resolved here but those of the gateways; addresses count as names. */
const resolverRules = (gatewayHosts: readonly string[]): string =>
  ['MAP * ~NOTFOUND', ...new Set(['127.0.0.1', ...gatewayHosts].map((host) => `EXCLUDE ${host}`))].join(', ');

/**
 * Chromium's command line. `major` is its major version; `sandbox`: whether its processes are sandboxed;
 * `gatewayHosts`: the hosts of the gateways that its contexts use.
 */
export function chromiumFlags(
  profileDir: string,
  major: number,
  sandbox: boolean,
  gatewayHosts: readonly string[] = [],
): string[] {
  return [
    ...LOCAL_FLAGS,
    ...FLAGS,
    `--host-resolver-rules=${resolverRules(gatewayHosts)}`,
    `--user-agent=${fallbackUserAgent(major)}`,
    `--user-data-dir=${profileDir}`,
    ...(sandbox ? [] : ['--no-sandbox']),
  ];
}

/**
 * The flags that a Chromium should have that another service starts for us: how it is started, and where its profile
 * is, is decided there.
 */
export const remoteFlags = (gatewayHosts: readonly string[]): string[] => [
  ...FLAGS,
  `--host-resolver-rules=${resolverRules(gatewayHosts)}`,
];
