import { androidPhones, androidTablets } from './devices/android.ts';
import { ipads, iphones } from './devices/apple-mobile.ts';
import type { Emulator } from './devices/device.ts';
import { macs } from './devices/macs.ts';
import { windowsComputers } from './devices/windows.ts';

/** Every emulator that a scan can use, in the order of the API's list. */
export const EMULATORS: readonly Emulator[] = [
  ...windowsComputers,
  ...macs,
  ...androidPhones,
  ...androidTablets,
  ...iphones,
  ...ipads,
];

export const EMULATOR_IDS: readonly string[] = EMULATORS.map(({ id }) => id);

const BY_ID = new Map(EMULATORS.map((emulator) => [emulator.id, emulator]));

/** The emulator of that id, null where there is none. */
export const findEmulator = (id: string): Emulator | null => BY_ID.get(id) ?? null;
