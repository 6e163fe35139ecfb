import { addPdfPlugins } from './add-pdf-plugins.ts';
import { type Gpu, overrideGpu } from './override-gpu.ts';
import { type NavigatorOverrides, overrideNavigator } from './override-navigator.ts';
import { overrideWindow, type WindowOverrides } from './override-window.ts';
import { wrapGetter } from './wrap-getter.ts';

export type DeviceOverrides = {
  navigator: NavigatorOverrides;
  window: WindowOverrides;
  gpu: Gpu;
  pdfViewer: boolean;
};

/**
 * JavaScript that runs in pages, frames and workers before their own scripts and leaves no name behind. The functions are sent as their
 * source: each stands alone.
 */
export function deviceScript({ navigator, window, gpu, pdfViewer }: DeviceOverrides): string {
  return `(() => {
const wrapGetter = ${wrapGetter};
(${overrideNavigator})(${JSON.stringify(navigator)}, wrapGetter);
(${overrideGpu})(${JSON.stringify(gpu)});
if (typeof window === 'undefined') return;
(${overrideWindow})(${JSON.stringify(window)}, wrapGetter);
${pdfViewer ? `(${addPdfPlugins})(wrapGetter);` : ''}
})();`;
}
