import { EMULATOR_IDS, findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { closest } from '../../../../reference/catalogue/lookup.ts';
import { type Check, issueAt } from './check.ts';

/** The emulator must be a known one (spec 2.1). */
export const checkEmulator: Check = ({ scan: { emulator_id: id }, countries }) => {
  if (id === undefined || findEmulator(id)) return [];
  const ctx = { country_codes: countries, valid_sample: closest(EMULATOR_IDS, id), valid_total: EMULATOR_IDS.length };
  return [issueAt('emulator_id', 'unknown_emulator_id', 'There is no such emulator.', id, ctx)];
};
