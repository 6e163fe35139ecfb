import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Demand } from '@adsweep/shared/capture/observations/interruption.ts';
import type { SystemTagSlug } from '../../../reference/tags/system-tags.ts';
import type { Detector } from '../detector.ts';
import { oneTag, type Sign } from './one-tag.ts';

/** Pages that make the device vibrate by themselves. */
export const vibrate = detectorOf('vibrate', ['vibration']);
/** Pages that ask for the permission to send notifications by themselves. */
export const pushPrompt = detectorOf('push_prompt', ['notifications', 'push']);
/** Pages that ask for the whole screen by themselves, or on a click on any place. */
export const fullscreenLock = detectorOf('fullscreen_lock', ['fullscreen']);
/** Pages that read the clipboard, or put something into it, by themselves. */
export const clipboardAccess = detectorOf('clipboard_access', ['clipboard_read', 'clipboard_write']);

function detectorOf(slug: SystemTagSlug, demands: Demand[]): Detector {
  return {
    name: slug,
    needs: [],
    detect({ observations }) {
      const calls = observationsOf(observations, 'unprompted_call').filter(({ facts }) =>
        demands.includes(facts.demand),
      );
      return oneTag(slug, calls.map(describeCall));
    },
  };
}

const describeCall = ({ landing, facts }: ObservationOf<'unprompted_call'>): Sign => ({
  landing,
  text: `${facts.demand}, ${facts.trigger === 'none' ? 'by itself' : 'on a click on an empty place'}`,
});
