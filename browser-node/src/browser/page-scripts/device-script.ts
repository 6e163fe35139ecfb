import { addPdfPlugins } from './add-pdf-plugins.ts';
import { boundConsole, type ConsoleBounds } from './bound-console.ts';
import { boundErrors, type ErrorBounds } from './bound-errors.ts';
import { boundRequestHeaders } from './bound-request-headers.ts';
import { isInitialDocument } from './initial-document.ts';
import { nativeFunctionsScript } from './native-functions.ts';
import { type Gpu, type NavigatorOverrides, overrideGpu, overrideNavigator } from './override-navigator.ts';
import { overrideWindow, type WindowOverrides } from './override-window.ts';

/** Debug versions of pages write some hundred lines. */
const CONSOLE: ConsoleBounds = { lines: 1_000, characters: 1_000_000 };

const ERRORS: ErrorBounds = { errors: 200, characters: 1_000_000 };

const REQUEST_HEADERS_LENGTH_MAX = 100_000;

export type DeviceOverrides = {
  navigator: NavigatorOverrides;
  window: WindowOverrides;
  gpu: Gpu;
  pdfViewer: boolean;
};

/**
 * JavaScript that runs in pages, frames and workers before their own scripts and defines no global names. The functions
 * are sent as source text, so each must be self-contained. `mark` distinguishes our functions from those of pages.
 */
export function deviceScript({ navigator, window, gpu, pdfViewer }: DeviceOverrides, mark: string): string {
  return `(() => {
'use strict';
if ((${isInitialDocument})()) return;
const natives = ${nativeFunctionsScript(mark)};
(${boundConsole})(${JSON.stringify(CONSOLE)}, natives);
(${boundErrors})(${JSON.stringify(ERRORS)});
(${boundRequestHeaders})(${REQUEST_HEADERS_LENGTH_MAX}, natives);
(${overrideNavigator})(${JSON.stringify(navigator)}, natives);
(${overrideGpu})(${JSON.stringify(gpu)}, natives);
if (typeof window === 'undefined') return;
(${overrideWindow})(${JSON.stringify(window)}, natives);
${pdfViewer ? `(${addPdfPlugins})(natives);` : ''}
})();`;
}
