import { randomBytes } from 'node:crypto';
import { type CountryLocale, countryLocale } from '@adsweep/shared/scan/country-locale.ts';
import type { Device, Emulator } from '@adsweep/shared/scan/devices/device.ts';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { BrowserContextOptions } from 'playwright-core';
import { hintValues, MEMORY_MAX_MOBILE, userAgentMetadata, userAgentOf } from './client-hints.ts';
import type { Identity } from './device-sessions.ts';
import { exitPlace } from './exit-place.ts';
import { type DeviceOverrides, deviceScript } from './page-scripts/device-script.ts';

/**
 * Everything that makes a context look like one device in one country: Playwright's options, CDP overrides and the init
 * script.
 */
export type EmulationProfile = {
  options: BrowserContextOptions;
  identity: Omit<Identity, 'window'>;
  device: Device;
  /** For a context whose windows are `windowLeft` pixels from the left of the browser's desktop. */
  initScript: (windowLeft: number) => string;
};

// Safari 17 has none of these, and pages check for them (MDN browser-compat-data).
const NOT_IN_SAFARI = [
  'userAgentData',
  'deviceMemory',
  'connection',
  'getBattery',
  'keyboard',
  'bluetooth',
  'usb',
  'hid',
  'serial',
  'vibrate',
  'adAuctionComponents',
  'devicePosture',
  'getInstalledRelatedApps',
  'gpu',
  'ink',
  'joinAdInterestGroup',
  'leaveAdInterestGroup',
  'login',
  'managed',
  'presentation',
  'protectedAudience',
  'requestMIDIAccess',
  'runAdAuction',
  'scheduling',
  'updateAdInterestGroups',
  'virtualKeyboard',
  'webkitGetUserMedia',
  'webkitPersistentStorage',
  'webkitTemporaryStorage',
  'windowControlsOverlay',
  'xr',
];
const GLOBALS_NOT_IN_SAFARI = [
  'Accelerometer',
  'BatteryManager',
  'BeforeInstallPromptEvent',
  'EyeDropper',
  'Gyroscope',
  'HID',
  'IdleDetector',
  'Keyboard',
  'LaunchQueue',
  'LinearAccelerationSensor',
  'NavigatorUAData',
  'NetworkInformation',
  'PresentationRequest',
  'Serial',
  'USB',
  'documentPictureInPicture',
  'getScreenDetails',
  'launchQueue',
  'onbeforeinstallprompt',
  'queryLocalFonts',
  'showDirectoryPicker',
  'showOpenFilePicker',
  'showSaveFilePicker',
  'webkitRequestFileSystem',
];

/**
 * The emulation profile of a context on a Chromium of version `browserVersion` that leaves by the ticket's exit:
 * languages are those of the country, timezone and geolocation those of the exit's place.
 */
export function emulationProfile(
  { device }: Emulator,
  countryCode: string,
  ticket: ExitTicket,
  browserVersion: string,
): EmulationProfile {
  const { languages } = countryLocale(countryCode);
  const locale = { languages, ...exitPlace(ticket.exit) };
  const userAgent = userAgentOf(device, browserVersion);
  const { server, username, password } = ticket;
  const mark = randomBytes(16).toString('hex');
  const initScript = (windowLeft: number) =>
    deviceScript(deviceOverrides(device, userAgent, locale.languages, windowLeft), mark);
  return {
    options: {
      ...contextOptions(device, locale),
      // Without the password: with one, Playwright would pause every request.
      proxy: { server },
      userAgent,
    },
    identity: {
      credentials: { username, password },
      userAgentOverride: {
        userAgent,
        platform: device.platform,
        // Without weights: Chromium adds them itself.
        acceptLanguage: locale.languages.join(','),
        userAgentMetadata: userAgentMetadata(device, browserVersion),
      },
      headers: { 'User-Agent': userAgent, 'Accept-Language': weighted(locale.languages) },
      hints: hintValues(device),
      device,
      maxTouchPoints: device.maxTouchPoints,
      workerScript: initScript(0),
    },
    device,
    initScript,
  };
}

/** Languages with the weights that Chromium adds in headers: `de-DE,de;q=0.9,...` (RFC 9110, 12.5.4). */
const weighted = (languages: string[]): string =>
  languages.map((tag, index) => (index === 0 ? tag : `${tag};q=${Math.max(0.1, 1 - index / 10).toFixed(1)}`)).join(',');

function contextOptions(device: Device, locale: CountryLocale): BrowserContextOptions {
  return {
    ignoreHTTPSErrors: true,
    serviceWorkers: 'allow',
    acceptDownloads: false,
    viewport: device.viewport,
    screen: device.screen,
    deviceScaleFactor: device.deviceScaleFactor,
    isMobile: device.mobile,
    hasTouch: device.maxTouchPoints > 0,
    locale: locale.languages[0],
    timezoneId: locale.timezone,
    ...(locale.coordinates && { geolocation: locale.coordinates }),
  };
}

function deviceOverrides(device: Device, userAgent: string, languages: string[], windowLeft: number): DeviceOverrides {
  const isChromium = device.clientHints !== null;
  const answers = {
    userAgent,
    appVersion: userAgent.replace('Mozilla/', ''),
    platform: device.platform,
    vendor: device.vendor,
    language: languages[0] as string,
    languages,
    hardwareConcurrency: device.cores,
    // On desktops the memory of the node's machine is plausible, and equals that in Chromium's client hints.
    ...(device.mobile && { deviceMemory: MEMORY_MAX_MOBILE }),
  };
  return {
    navigator: {
      answers,
      missing: isChromium ? [] : NOT_IN_SAFARI,
      missingGlobals: isChromium ? [] : GLOBALS_NOT_IN_SAFARI,
    },
    window: {
      screen: { ...device.screen, pixelRatio: device.deviceScaleFactor, workArea: device.workArea },
      outer: device.mobile ? device.viewport : { width: device.screen.width, height: device.workArea.height },
      windowLeft,
      contentTop: device.mobile ? 0 : device.workArea.top + device.workArea.height - device.viewport.height,
      chrome: isChromium,
    },
    gpu: device.gpu,
    pdfViewer: !device.mobile,
  };
}
