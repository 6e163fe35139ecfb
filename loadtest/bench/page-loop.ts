import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import type { LaunchOptions, Page } from 'playwright-core';
import { chromiumFlags } from '../../browser-node/src/browser/chromium-flags.ts';
import { benchConfig } from './config.ts';
import { exchange } from './measure-process.ts';

/** The viewport of the device that scans emulate here. */
export const VIEWPORT = findEmulator('windows_chrome')!.device.viewport;

/** Flags of the farm's Chromium that other programs cannot use: theirs has no exits, and a folder of its own. */
const NOT_SHARED = /^--(proxy-server|host-resolver-rules|user-data-dir|no-startup-window)\b/;

/**
 * How another program starts Chromium: with the flags of a browser node and no others, and with every host at the address of the ad world.
 * It runs without a sandbox, because it may run as root.
 */
export function launchOptions(adWorld: string): LaunchOptions & { executablePath: string } {
  const { CHROMIUM_PATH } = benchConfig();
  const { stdout } = spawnSync(CHROMIUM_PATH, ['--version'], { encoding: 'utf8' });
  const major = Number(/(\d+)\.\d+\.\d+/.exec(stdout)?.[1]);
  const flags = chromiumFlags('', major, false).filter((flag) => !NOT_SHARED.test(flag));
  return {
    executablePath: CHROMIUM_PATH,
    ignoreDefaultArgs: true,
    args: [...flags, `--host-resolver-rules=MAP * ${adWorld}`],
  };
}

/** Takes the screenshot that a scan takes: the whole page, as JPEG of the same quality. */
export async function takePicture(page: Page): Promise<void> {
  await page.screenshot({ type: 'jpeg', quality: 90, fullPage: true });
}

/** A folder that is removed when the process exits. */
export function ownFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Measures the pages in the middle of a run: `before` pages warm up, then `pages` are measured, while further ones wait. */
export class MiddlePages {
  readonly #before: number;
  readonly #pages: number;
  #finished = 0;
  #began = 0;

  constructor(before: number, pages: number) {
    this.#before = before;
    this.#pages = pages;
  }

  /** To be called at the end of each page. */
  ended(): void {
    this.#finished += 1;
    if (this.#finished === this.#before) {
      this.#began = performance.now();
      void exchange({});
    }
    if (this.#finished === this.#before + this.#pages)
      void exchange({ seconds: (performance.now() - this.#began) / 1000 });
  }
}
