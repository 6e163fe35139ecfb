import type { Need } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import { appStoreRedirect } from './app-store-redirect.ts';
import { autoDownload } from './auto-download.ts';
import { autoRedirect } from './auto-redirect.ts';
import { autosound } from './autosound.ts';
import { backButton } from './back-button.ts';
import { cpuHog } from './cpu-hog.ts';
import { creativeEmpty } from './creative-empty.ts';
import { creativeInteractive } from './creative-interactive.ts';
import { cryptoMining } from './crypto-mining.ts';
import { dialogLoop } from './dialog-loop.ts';
import { fingerprinting } from './fingerprinting.ts';
import { heavyAd } from './heavy-ad.ts';
import { hiddenAd, pixelStuffing, stackedAds } from './hidden-ads.ts';
import { invalidCertificate } from './invalid-certificate.ts';
import { popupBomb } from './popup-bomb.ts';
import { clipboardAccess, fullscreenLock, pushPrompt, vibrate } from './unprompted-calls.ts';

/** What is read from the behaviour of landings and creatives, in the order in which tags are listed. */
export const behaviors: Detector<Need>[] = [
  autoRedirect,
  autoDownload,
  popupBomb,
  cryptoMining,
  backButton,
  autosound,
  dialogLoop,
  fullscreenLock,
  appStoreRedirect,
  cpuHog,
  hiddenAd,
  stackedAds,
  pixelStuffing,
  clipboardAccess,
  vibrate,
  pushPrompt,
  fingerprinting,
  heavyAd,
  invalidCertificate,
  creativeInteractive,
  creativeEmpty,
];
