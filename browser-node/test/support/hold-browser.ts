import { createLogger } from '@adsweep/shared/service/logger.ts';
import { LiveBrowser } from '../../src/browser/live-browser.ts';
import { chromiumOfRun } from './chromium-of-run.ts';

// A process that only keeps a browser open, for a test that kills it.
const browser = await LiveBrowser.launch(await chromiumOfRun(), createLogger('hold-browser', 'silent'));
process.stdout.write(`${browser.pid}\n`);
setInterval(() => undefined, 60_000);
