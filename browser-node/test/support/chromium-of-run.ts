import { type Chromium, locateChromium } from '../../src/browser/locate-chromium.ts';

/** The Chromium that this run of the tests was given by CHROMIUM_PATH, or else the machine's. */
export function chromiumOfRun(options?: Parameters<typeof locateChromium>[1]): Promise<Chromium> {
  return locateChromium(process.env.CHROMIUM_PATH ?? '', options);
}
