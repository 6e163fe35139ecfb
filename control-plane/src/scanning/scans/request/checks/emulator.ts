import { EMULATORS, findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { closest } from '../../../../reference/catalogue/lookup.ts';
import { type Check, issueAt } from './check.ts';

const IDS = EMULATORS.map(({ id }) => id);

/** The emulator must be a known one (spec 2.1). */
export const checkEmulator: Check = ({ scan: { emulator_id: id }, countries }) => {
  if (id === undefined || findEmulator(id)) return [];
  const ctx = { country_codes: countries, valid_sample: closest(IDS, id), valid_total: IDS.length };
  return [issueAt('emulator_id', 'unknown_emulator_id', 'There is no such emulator.', id, ctx)];
};
