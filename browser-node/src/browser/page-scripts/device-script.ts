import { addPdfPlugins } from './add-pdf-plugins.ts';
import { NATIVE_MARK, nativeFunctions } from './native-functions.ts';
import { type Gpu, type NavigatorOverrides, overrideGpu, overrideNavigator } from './override-navigator.ts';
import { overrideWindow, type WindowOverrides } from './override-window.ts';

export type DeviceOverrides = {
  navigator: NavigatorOverrides;
  window: WindowOverrides;
  gpu: Gpu;
  pdfViewer: boolean;
};

/**
 * JavaScript that runs in pages, frames and workers before their own scripts and defines no global names. The functions are sent as source
 * text, so each must be self-contained. `mark` distinguishes our functions from those of pages.
 */
export function deviceScript({ navigator, window, gpu, pdfViewer }: DeviceOverrides, mark: string): string {
  return `(() => {
'use strict';
const natives = (${String(nativeFunctions).replaceAll(NATIVE_MARK, mark)})('${mark}');
(${overrideNavigator})(${JSON.stringify(navigator)}, natives);
(${overrideGpu})(${JSON.stringify(gpu)}, natives);
if (typeof window === 'undefined') return;
(${overrideWindow})(${JSON.stringify(window)}, natives);
${pdfViewer ? `(${addPdfPlugins})(natives);` : ''}
})();`;
}
