import { addPdfPlugins } from './add-pdf-plugins.ts';
import { dressNavigator, type NavigatorDress } from './dress-navigator.ts';
import { dressWindow, type WindowDress } from './dress-window.ts';
import { wrapGetter } from './wrap-getter.ts';

export type DeviceDress = { navigator: NavigatorDress; window: WindowDress; pdfViewer: boolean };

/**
 * JavaScript that runs in pages, frames and workers before their own scripts and leaves no name behind. The functions are sent as their
 * source: each stands alone.
 */
export function deviceScript({ navigator, window, pdfViewer }: DeviceDress): string {
  return `(() => {
const wrapGetter = ${wrapGetter};
(${dressNavigator})(${JSON.stringify(navigator)}, wrapGetter);
if (typeof window === 'undefined') return;
(${dressWindow})(${JSON.stringify(window)}, wrapGetter);
${pdfViewer ? `(${addPdfPlugins})(wrapGetter);` : ''}
})();`;
}
