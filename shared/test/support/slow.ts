/**
 * Options of a test that takes long: `npm test -- --quick` leaves it out, as it does files of such tests (`*.slow.test.ts`).
 */
export const slow = { skip: process.env.ADSWEEP_TEST_QUICK === '1' && 'it takes long: --quick leaves it out' };
