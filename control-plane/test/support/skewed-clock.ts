import { skewClock } from './skew-clock.ts';

/** Preloaded (`--import`): the clock of this process is off by `ADSWEEP_TEST_CLOCK_MS` milliseconds. */
skewClock(Number(process.env.ADSWEEP_TEST_CLOCK_MS ?? 0));
