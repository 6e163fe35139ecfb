import type { Need } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import { fakeSystemDialog } from './fake-system-dialog.ts';
import { fakeUpdate } from './fake-update.ts';
import { forcedSubscription } from './forced-subscription.ts';
import { maliciousScript } from './malicious-script.ts';
import { pasteToRun } from './paste-to-run.ts';
import { phishingForm } from './phishing-form.ts';
import { scareware } from './scareware.ts';

/** What pages pretend, by what they say and show, in the order in which tags are listed. */
export const deceptions: Detector<Need>[] = [
  scareware,
  phishingForm,
  maliciousScript,
  fakeSystemDialog,
  fakeUpdate,
  pasteToRun,
  forcedSubscription,
];
