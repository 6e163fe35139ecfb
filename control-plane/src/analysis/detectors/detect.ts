import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { Evidence, Need } from '../evidence/evidence.ts';
import { exitMismatch, invalidCertificate } from './behaviors/connection.ts';
import { creativeEmpty, creativeInteractive } from './behaviors/creatives.ts';
import { fingerprinting } from './behaviors/fingerprinting.ts';
import { hiddenAd, pixelStuffing, stackedAds } from './behaviors/hidden-ads.ts';
import {
  autosound,
  clipboardAccess,
  dialogLoop,
  fullscreenLock,
  popupBomb,
  pushPrompt,
  vibrate,
} from './behaviors/interruptions.ts';
import { appStoreRedirect, autoDownload, autoRedirect, backButton } from './behaviors/navigation.ts';
import { cpuHog, cryptoMining, heavyAd } from './behaviors/resource-use.ts';
import { fakeSystemDialog } from './deception/fake-system-dialog.ts';
import { fakeUpdate } from './deception/fake-update.ts';
import { forcedSubscription } from './deception/forced-subscription.ts';
import { maliciousScript } from './deception/malicious-script.ts';
import { wordsOf } from './deception/markup.ts';
import { pasteToRun } from './deception/paste-to-run.ts';
import { phishingForm } from './deception/phishing/phishing-form.ts';
import { pushLure } from './deception/push-lure.ts';
import { scareware } from './deception/scareware.ts';
import { combine, type Detector, type Finding } from './detector.ts';
import { vastMedia, vastTechniques, vastTrackers } from './vast/played-ads.ts';
import { vastForm } from './vast/vast-form.ts';

/** All detectors, in the order in which their tags are listed. */
export const detectors: Detector<Need>[] = [
  ...[autoRedirect, autoDownload, popupBomb, cryptoMining, backButton, autosound, dialogLoop, fullscreenLock],
  ...[appStoreRedirect, cpuHog, hiddenAd, stackedAds, pixelStuffing, clipboardAccess, vibrate, pushPrompt],
  ...[fingerprinting, heavyAd, invalidCertificate, creativeInteractive, creativeEmpty],
  ...[scareware, phishingForm, maliciousScript, fakeSystemDialog, fakeUpdate, pasteToRun, pushLure, forcedSubscription],
  ...[vastMedia, vastTechniques, vastTrackers, vastForm],
  exitMismatch,
];

/** All findings, and the detectors that threw or timed out: these have no findings and do not affect the others. */
export type Detection = { findings: Finding[]; failed: { name: string; cause: unknown }[] };

/** Runs a pure function; throws what that throws, or if it does not end in time. */
export type Run = <T>(work: () => T) => T;

/**
 * Runs detectors over evidence, all within one `run`, which costs more than most detectors do. Where that fails, each
 * has one of its own.
 */
export function detect(evidence: Evidence, among = detectors, run: Run = (work) => work()): Detection {
  const judged = { ...evidence, documents: documentsOf(evidence) };
  try {
    const findings = run(() => among.flatMap((detector) => detector.detect(judged)));
    return { findings: combine(findings), failed: [] };
  } catch {
    return detectEach(judged, among, run);
  }
}

function detectEach(judged: Evidence, among: Detector<Need>[], run: Run): Detection {
  const detection: Detection = { findings: [], failed: [] };
  for (const detector of among) {
    try {
      detection.findings.push(...run(() => detector.detect(judged)));
    } catch (cause) {
      detection.failed.push({ name: detector.name, cause });
    }
  }
  return { ...detection, findings: combine(detection.findings) };
}

/**
 * The documents, and as one of them the HTML of a creative that has no others, such as that of an ad tag: with its
 * words, shown or not.
 */
function documentsOf({ documents, creative, creativeHtml: html }: Evidence): CapturedDocument[] {
  if (html === '' || documents.some(({ landing }) => landing === null)) return documents;
  return [...documents, { landing: null, frame: '', url: creative?.url ?? '', title: '', text: wordsOf(html), html }];
}
