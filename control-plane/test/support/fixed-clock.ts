import { skewClock } from './skew-clock.ts';

/**
 * Imported by tests of what counts by days and months: their clock begins at a noon in the middle of a month, so that
 * neither ends meanwhile.
 */
skewClock(Date.UTC(2026, 5, 15, 12) - Date.now());
