import { AD_KINDS } from '@adsweep/shared/capture/ad-block.ts';
import type { ScannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import {
  INTERACTIVE_CHECK_MS,
  MAIN_THREAD_WATCHED_AGAIN_MS,
  MAIN_THREAD_WATCHED_MS,
  SCREENSHOT_MS,
  WORKERS_WATCHED_MS,
} from '../session/budgets.ts';
import { afterActivation } from './after-activation.ts';
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
import { interactive } from './interactive.ts';
import { mainThread } from './main-thread.ts';
import { pageParts } from './page-parts.ts';
import { placements } from './placements.ts';
import { popups } from './popups.ts';
import { redirectChain } from './redirect-chain.ts';
import { requests } from './requests.ts';
import { pageScreenshot, screenshots } from './screenshots.ts';
import { unpromptedCalls } from './unprompted-calls.ts';
import { vast } from './vast.ts';
import { childFlood, workerLoad } from './worker-load.ts';

/**
 * A collector, the most time that it may take, in ms, and the kinds of target that it runs for. `spoils`: pages differ
 * after it, so that it does not run for one that is swept, whose ads come next.
 */
export type Collecting = { collector: Collector; budgetMs: number; kinds: readonly ScannedKind[]; spoils?: true };

const ALL: readonly ScannedKind[] = ['url', 'ad_tag', 'vast_tag', ...AD_KINDS];
const TAGS: readonly ScannedKind[] = ['ad_tag', 'vast_tag'];

/** What runs while the tabs are open, in this order. */
const WHILE_OPEN: readonly Collecting[] = [
  // CPU time is measured before the collectors use any.
  { collector: mainThread, budgetMs: MAIN_THREAD_WATCHED_MS + MAIN_THREAD_WATCHED_AGAIN_MS + 4_000, kinds: ALL },
  { collector: workerLoad, budgetMs: WORKERS_WATCHED_MS + 5_000, kinds: ALL },
  { collector: childFlood, budgetMs: 1_000, kinds: ALL },
  { collector: certificates, budgetMs: 1_000, kinds: ALL },
  { collector: documents, budgetMs: 8_000, kinds: ALL },
  { collector: pageParts, budgetMs: 4_000, kinds: ALL },
  { collector: autosound, budgetMs: 3_000, kinds: ALL },
  { collector: fingerprints, budgetMs: 1_000, kinds: ALL },
  { collector: frameWeight, budgetMs: 3_000, kinds: ALL },
  { collector: placements, budgetMs: 4_000, kinds: ALL },
  { collector: screenshots, budgetMs: SCREENSHOT_MS * 3, kinds: ALL },
  { collector: pageScreenshot, budgetMs: SCREENSHOT_MS, kinds: TAGS },
  // What pages did until here, also while their screenshots were taken.
  { collector: autoRedirect, budgetMs: 1_000, kinds: ALL },
  { collector: autoDownload, budgetMs: 1_000, kinds: ALL },
  { collector: popups, budgetMs: 1_000, kinds: ALL },
  { collector: dialogs, budgetMs: 1_000, kinds: ALL },
  // Clicks the creative, once its landings are captured; the rest is for one that spins then.
  { collector: interactive, budgetMs: INTERACTIVE_CHECK_MS + 10_000, kinds: ['ad_tag', 'banner'] },
  { collector: contents, budgetMs: 6_000, kinds: ALL },
  // May click the page.
  { collector: unpromptedCalls, budgetMs: 6_000, kinds: ALL },
  { collector: afterActivation, budgetMs: 6_000, kinds: ['url', ...TAGS], spoils: true },
  // Leaves the page.
  { collector: backButton, budgetMs: 8_000, kinds: ALL },
];

/**
 * What runs when the tabs are closed and the gateway has reported the traffic, in this order: requests fill in hops
 * that were missed.
 */
const AFTERWARDS: readonly Collecting[] = [
  { collector: requests, budgetMs: 2_000, kinds: ALL },
  { collector: redirectChain, budgetMs: 1_000, kinds: ALL },
  { collector: vast, budgetMs: 3_000, kinds: ['vast_tag'] },
];

/** The collectors of a kind of target, in order; `isSwept`: a page whose ads are captured after it. */
export function collectorsOf(kind: ScannedKind, isSwept: boolean): Record<'whileOpen' | 'afterwards', Collecting[]> {
  const runs = ({ kinds, spoils }: Collecting) => kinds.includes(kind) && !(isSwept && spoils);
  return { whileOpen: WHILE_OPEN.filter(runs), afterwards: AFTERWARDS.filter(runs) };
}
