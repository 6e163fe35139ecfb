import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Demand } from '@adsweep/shared/capture/observations/interruption.ts';
import type { SystemTagSlug } from '../../../reference/tags/system-tags.ts';
import { type Detector, oneTag, type Sign } from '../detector.ts';

const WINDOWS_OF_A_BOMB = 3;
/** URLs that a finding names. */
const NAMED_MAX = 3;

/** Pages that open many windows, or any without a click. */
export const popupBomb: Detector = {
  name: 'popup_bomb',
  needs: [],
  detect({ observations }) {
    const bombs = observationsOf(observations, 'popups').filter(
      ({ facts }) => facts.windows >= WINDOWS_OF_A_BOMB || facts.without_gesture > 0,
    );
    return oneTag(
      'popup_bomb',
      bombs.map(({ landing, facts: { windows, without_gesture, urls } }) => {
        const named = urls.filter(Boolean).slice(0, NAMED_MAX).join(' ');
        const opened = `${windows} ${windows === 1 ? 'window' : 'windows'}`;
        return { landing, text: `${opened}, ${without_gesture} without a click${named && `: ${named}`}` };
      }),
    );
  },
};

/** One dialog may ask and a second may ask again; a third is meant to keep the visitor. */
const DIALOGS_OF_A_LOOP = 3;

/** Pages that open one dialog after the other. */
export const dialogLoop: Detector = {
  name: 'dialog_loop',
  needs: [],
  detect({ observations }) {
    const loops = observationsOf(observations, 'dialogs').filter(({ facts }) => facts.count >= DIALOGS_OF_A_LOOP);
    return oneTag(
      'dialog_loop',
      loops.map(({ landing, facts }) => ({ landing, text: `${facts.count} dialogs` })),
    );
  },
};

/**
 * Landings that try to play sound when they open (spec 2.5), and ads on a page. An attempt counts although the browser
 * blocks it. Muted media, media with volume 0 or without an audio track make no sound.
 */
export const autosound: Detector = {
  name: 'autosound',
  needs: [],
  detect({ observations }) {
    const attempts = observationsOf(observations, 'autosound').filter(isSound);
    return oneTag('autosound', attempts.map(describeAttempt));
  },
};

/** Whether an attempt to play would be heard. */
export const isSound = ({ facts }: ObservationOf<'autosound'>): boolean =>
  !facts.muted && facts.volume > 0 && facts.has_audio;

function describeAttempt({ landing, facts }: ObservationOf<'autosound'>): Sign {
  return { landing, text: `sound by ${facts.via}, ${facts.started ? 'it played' : 'the browser blocked it'}` };
}

/** Pages that make the device vibrate without a click. */
export const vibrate = unpromptedCall('vibrate', ['vibration']);
/** Pages that ask for permission to send notifications without a click. */
export const pushPrompt = unpromptedCall('push_prompt', ['notifications', 'push']);
/** Pages that request fullscreen without a click, or on a click anywhere. */
export const fullscreenLock = unpromptedCall('fullscreen_lock', ['fullscreen']);
/** Pages that read or write the clipboard without a click. */
export const clipboardAccess = unpromptedCall('clipboard_access', ['clipboard_read', 'clipboard_write']);

function unpromptedCall(slug: SystemTagSlug, demands: Demand[]): Detector {
  return {
    name: slug,
    needs: [],
    detect({ observations }) {
      const calls = observationsOf(observations, 'unprompted_call').filter(({ facts }) =>
        demands.includes(facts.demand),
      );
      return oneTag(
        slug,
        calls.map(({ landing, facts: { demand, trigger } }) => {
          return { landing, text: `${demand}, ${trigger === 'none' ? 'by itself' : 'on a click on an empty place'}` };
        }),
      );
    },
  };
}
