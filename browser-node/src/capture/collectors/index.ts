import { autoDownload } from './auto-download.ts';
import { autoRedirect } from './auto-redirect.ts';
import { autosound } from './autosound.ts';
import { backButton } from './back-button.ts';
import { certificates } from './certificates.ts';
import type { Collector } from './collector.ts';
import { contents } from './contents.ts';
import { dialogs } from './dialogs.ts';
import { documents } from './documents.ts';
import { fingerprints } from './fingerprints.ts';
import { frameWeight } from './frame-weight.ts';
import { mainThread } from './main-thread.ts';
import { pageParts } from './page-parts.ts';
import { placements } from './placements.ts';
import { popups } from './popups.ts';
import { redirectChain } from './redirect-chain.ts';
import { requests } from './requests.ts';
import { screenshots } from './screenshots.ts';
import { unpromptedCalls } from './unprompted-calls.ts';
import { childFlood, workerLoad } from './worker-load.ts';

/**
 * What is collected while the tabs are open, in this order: processors are measured before we use them ourselves, one click may be
 * tried after the picture, and the Back probe leaves the page.
 */
export const whileOpen: Collector[] = [
  mainThread,
  workerLoad,
  childFlood,
  autoRedirect,
  autoDownload,
  popups,
  dialogs,
  certificates,
  documents,
  pageParts,
  autosound,
  fingerprints,
  frameWeight,
  placements,
  screenshots,
  contents,
  unpromptedCalls,
  backButton,
];

/** What is collected when the tabs are closed and the gateway has reported the traffic. Requests fill in hops that were missed. */
export const afterwards: Collector[] = [requests, redirectChain];
